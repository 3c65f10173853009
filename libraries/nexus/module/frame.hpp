// The header of a message of Nexus, and its bytes in modules that have no portals. The built-in methods carry its
// fields in portals headers instead (libraries/nexus/host_method.hpp).
//
// The 32 bytes, in the byte order of the machine, because all contexts of a job run on machines of one kind:
//
//   0  magic 'N' 'x'    2  kind    3  flags    4 endpoint (4)    8 generation (2)   10 link (2)
//  12  handler (4)     16  epoch (4)    20 origin (4)    24  body bytes (8)
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "margay/host.hpp"

namespace margay::nexus::core {

// Kinds of messages. `request`: a remote service request. `marker`: the last message of a link by its former method.
// `skipped`: the former method of the link is lost, so no marker follows. `closing` and `closed`: nothing more is under
// way by this method, and the answer.
enum class FrameKind : std::uint8_t { request = 1, marker, skipped, closing, closed };
inline constexpr std::uint8_t kFrameKindLast = 5;

// Flags of a frame: the body lies at its owner and must be fetched; the frame came by a forwarder; the body begins with
// the names of the modules that have transformed it.
enum FrameFlag : std::uint8_t { kIsLong = 1, kIsForwarded = 2, kIsPacked = 4, kToForwarder = 8, kIsMulticast = 16 };

// The bits of an endpoint's number, of its generation, of a link's number and of a handler's number.
inline constexpr unsigned kEndpointBits = 24, kGenerationBits = 16, kLinkBits = 16, kHandlerBits = 24;

// A message's header.
struct Frame {
  FrameKind kind = FrameKind::request;
  std::uint8_t flags = 0;
  std::uint32_t endpoint = 0;    // kEndpointBits
  std::uint16_t generation = 0;  // of the endpoint's number
  std::uint16_t link = 0;        // the sender's number of the link; 0: its method has never changed
  std::uint32_t handler = 0;     // kHandlerBits
  std::uint32_t epoch = 0;       // changes of the link's method before this message
  std::uint32_t origin = 0;      // the sending context, of a forwarded message
  std::uint64_t body_bytes = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};

inline constexpr std::size_t kFrameBytes = 32;
using FrameBytes = std::array<std::byte, kFrameBytes>;
[[nodiscard]] FrameBytes encode(const Frame& frame);
// Fails with the reason for bytes that encode() does not make. `body_bytes`: the length of the body that follows.
[[nodiscard]] portals::Status decode(std::span<const std::byte> bytes, std::uint64_t body_bytes, Frame& out);

}  // namespace margay::nexus::core
