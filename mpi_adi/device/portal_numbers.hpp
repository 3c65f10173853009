// Which portal serves what (paper 001, figures 1, 2, 8, 10 and 11).
#pragma once

#include "portals/base/ids.hpp"

namespace margay::mpi_adi {

inline constexpr portals::PortalIndex kReceivePortal = 0;         // posted receives and the two catch-alls
inline constexpr portals::PortalIndex kAcknowledgmentPortal = 1;  // long sends' acknowledgments, synchronous answers
inline constexpr portals::PortalIndex kReadPortal = 2;            // bodies that receivers pull
inline constexpr portals::PortalIndex kCollectiveTreePortal = 3;
inline constexpr portals::PortalIndex kCollectiveReadyPortal = 4;
// Of collectives' streams: 5, and more of them from 16 on.
inline constexpr std::uint32_t kCollectiveStreams = 17;
[[nodiscard]] constexpr portals::PortalIndex collective_stream(std::uint32_t index) {
  return static_cast<portals::PortalIndex>(index == 0 ? 5 : 15 + index);
}
[[nodiscard]] constexpr std::uint32_t index_of_stream(portals::PortalIndex portal) {
  return portal == 5 ? 0 : std::uint32_t{portal} - 15;
}
static_assert(collective_stream(kCollectiveStreams - 1) < portals::kPortalCount);
inline constexpr portals::PortalIndex kPutPortal = 6;
inline constexpr portals::PortalIndex kGetPortal = 7;
inline constexpr portals::PortalIndex kCancelPortal = 8;     // senders ask for unmatched messages back
inline constexpr portals::PortalIndex kCallCheckPortal = 9;  // records of collective calls, when they are checked
inline constexpr portals::PortalIndex kWindowPortal = 10;    // what windows ask members for, beside puts and gets

// Owner kinds of descriptors and transmissions, for whoever drains the kernel's lists, which is the device. It passes
// over kinds from kOwnerOthers on: their owners look at the descriptor's counters or the transmission's state.
enum OwnerKind : std::uint32_t {
  kOwnerReceive = 1,         // descriptor of a ReceiveRequest
  kOwnerHeap = 2,            // the heap of unexpected messages
  kOwnerAcknowledgment = 3,  // descriptor of a SendRequest: answers to it
  kOwnerRead = 4,            // descriptor of a SendRequest: its body
  kOwnerSend = 5,            // transmission of a SendRequest
  kOwnerNotice = 6,          // transmission of a Notice
  kOwnerCancel = 7,          // senders' questions (protocol/cancel)
  kOwnerListener = 8,        // told at once (device/listener)
  kOwnerTask = 9,            // descriptor or transmission that a Task waits for (device/task)
  kOwnerOthers = 16,
};

}  // namespace margay::mpi_adi
