// The numbers of the portals of a process that runs MPI, and the portals that communication libraries may use.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "portals/base/header.hpp"

namespace margay::mpi_adi {

// The portals of MPI and their purposes (paper 001, figures 1, 2, 8, 10 and 11).

inline constexpr portals::PortalIndex kReceivePortal = 0;         // posted receives, and the heap's two catch-alls
inline constexpr portals::PortalIndex kAcknowledgmentPortal = 1;  // acknowledgments and other answers to sends
inline constexpr portals::PortalIndex kReadPortal = 2;            // bodies that receivers pull
// The tree portal takes the messages of collective calls along a tree; the ready portal takes notices between members.
inline constexpr portals::PortalIndex kCollectiveTreePortal = 3;
inline constexpr portals::PortalIndex kCollectiveReadyPortal = 4;
// Number of portals for the streams of collective calls: portal 5, and those from 16 on.
inline constexpr std::uint32_t kCollectiveStreams = 17;
// The portal of a stream. Requires: index < kCollectiveStreams.
[[nodiscard]] constexpr portals::PortalIndex collective_stream(std::uint32_t index) {
  return static_cast<portals::PortalIndex>(index == 0 ? 5 : 15 + index);
}
// The inverse. Requires: the portal is a stream's.
[[nodiscard]] constexpr std::uint32_t index_of_stream(portals::PortalIndex portal) {
  return portal == 5 ? 0 : std::uint32_t{portal} - 15;
}
// Puts into windows and gets out of them (mpi_adi/rma).
inline constexpr portals::PortalIndex kPutPortal = 6;
inline constexpr portals::PortalIndex kGetPortal = 7;
inline constexpr portals::PortalIndex kCancelPortal = 8;  // senders' requests to give a message back (protocol/cancel)
inline constexpr portals::PortalIndex kCallCheckPortal = 9;  // records of collective calls, when they are checked
inline constexpr portals::PortalIndex kWindowPortal = 10;    // requests to members of a window other than puts and gets

// The portals that MPI does not use, in ranges [first, last]. A range with a name belongs to the communication library
// of that name (libraries/host); one without is free for any library. Portals 62 and 63 are in no range: 62 is for
// hops of forwarded messages (sim/kernel/forward_frame), and 63 is the control portal of sim/program.
struct LibraryPortals {
  portals::PortalIndex first;
  portals::PortalIndex last;
  std::string_view library;
};
inline constexpr std::array<LibraryPortals, 7> kLibraryPortals{
    {{11, 15, ""}, {32, 36, "nexus"}, {37, 39, ""}, {40, 44, "zipcode"}, {45, 47, ""}, {48, 52, "rmi"}, {53, 61, ""}}};
static_assert(kWindowPortal < kLibraryPortals.front().first);
static_assert(collective_stream(kCollectiveStreams - 1) < kLibraryPortals[1].first);
static_assert(kLibraryPortals.back().last < portals::kPortalCount);
// Whether a portal of an MPI program is a library's, and not MPI's.
[[nodiscard]] constexpr bool is_library_portal(portals::PortalIndex portal) {
  for (const LibraryPortals& range : kLibraryPortals) {
    if (portal >= range.first && portal <= range.last) return true;
  }
  return false;
}

}  // namespace margay::mpi_adi
