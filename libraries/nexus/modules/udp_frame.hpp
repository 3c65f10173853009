// A datagram of the modules udp and multicast: a header of 64 bytes, and a part of a message. docs/nexus_modules.md has
// its bytes. A receiver verifies the tag before it uses any field, so datagrams from outside of the job have no effect.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "libraries/nexus/modules/keys.hpp"

namespace margay::nexus::core {

// A datagram with the headers of IP and UDP fits an Ethernet frame of 1,500 bytes, so no router splits it.
inline constexpr std::size_t kUdpFrameMost = 1400;
inline constexpr std::size_t kUdpHeaderBytes = 64;
inline constexpr std::size_t kUdpTagBytes = 16;
inline constexpr std::size_t kUdpPartMost = kUdpFrameMost - kUdpHeaderBytes;
// The longest message: 256 frames. Longer ones would rarely arrive, because one lost frame loses the message.
inline constexpr std::uint32_t kUdpMessageMost = 256 * kUdpPartMost;

// `total`: the sender's number of messages so far, at its end. `total_answer`: the receiver's counts of these.
enum class UdpKind : std::uint8_t { data = 1, total = 2, total_answer = 3 };

// The fields of a frame, in the order of their bytes.
struct UdpFrame {
  UdpKind kind = UdpKind::data;
  std::uint16_t part = 0;   // index of the part in its message
  std::uint16_t parts = 1;  // number of parts of its message; 1 for other kinds
  std::uint32_t from = 0;   // the sender's context
  std::uint32_t to = 0;     // the receiver's; kEveryContext: multicast
  std::uint32_t message_bytes = 0;
  std::uint64_t number = 0;        // data: of the message, counted by the sender for each receiver; else the total
  std::uint64_t from_session = 0;  // of the sender's module
  std::uint64_t to_session = 0;    // of the receiver's module, from its descriptor; 0 for multicast
  std::span<const std::byte> part_bytes;
};

// The number of parts of a message of `bytes` bytes; at least 1. Requires: bytes <= kUdpMessageMost.
[[nodiscard]] constexpr std::uint16_t udp_parts(std::uint32_t bytes) {
  return bytes == 0 ? std::uint16_t{1} : static_cast<std::uint16_t>((bytes + kUdpPartMost - 1) / kUdpPartMost);
}

// The range of a part in its message.
[[nodiscard]] constexpr std::size_t udp_part_begin(std::uint16_t part) {
  return part * kUdpPartMost;
}

// Writes header and part into `out`, and the tag by `key`. Returns the frame's length. Requires: the fields agree, as
// decode_udp() checks.
std::size_t encode_udp(const UdpFrame& frame, const ModuleKey& key, std::array<std::byte, kUdpFrameMost>& out);

// The frame in `datagram`, whose memory part_bytes refers to; empty if it is malformed: too short, too long, of another
// version, or with fields that contradict each other. Each accepted datagram has one encoding. The tag is not verified.
[[nodiscard]] std::optional<UdpFrame> decode_udp(std::span<const std::byte> datagram);

// Whether the tag of a datagram that decode_udp() has accepted is right: its sender has `key`. Constant time.
[[nodiscard]] bool verify_udp(std::span<const std::byte> datagram, const ModuleKey& key);

}  // namespace margay::nexus::core
