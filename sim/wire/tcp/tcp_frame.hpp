// Frames in a TCP byte stream. A frame consists of a prefix, with the lengths of head and content and two checksums;
// the head (sim/wire/frame.hpp); and the content. docs/tcp_wire.md has the bytes.
//
// A body up to kWholeBytes travels in its message's own frame. A longer body follows its message's frame in segment
// frames of at most kSegmentBytes. A cut frame may take the place of any segment.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "sim/base/limits.hpp"
#include "sim/wire/frame.hpp"

namespace margay::sim {

// Length of a prefix.
inline constexpr std::size_t kPrefixBytes = 16;
// The longest body in its message's frame. Such a frame is never cut, because a receiver has room for all of it.
inline constexpr std::size_t kWholeBytes = std::size_t{64} * 1024;
// The longest segment: an eighth of a processor's cache of 2 MiB. The sender computes the checksum directly before the
// call that sends the segment, and the receiver directly after the call that receives it. So the second of these steps
// finds the bytes in the cache. The cost of a segment's prefix and head (32 bytes) and of its two system calls is small
// compared with the cost of its bytes.
inline constexpr std::size_t kSegmentBytes = std::size_t{256} * 1024;
// The most bytes of a frame without its content.
inline constexpr std::size_t kFrameOverheadMaxBytes = kPrefixBytes + kFrameHeadMaxBytes;
// Prefix and head of a segment: the bytes that a receiver can read ahead without reading content of the next segment.
inline constexpr std::size_t kSegmentOverheadBytes = kPrefixBytes + kFrameHeadMinBytes;
static_assert(kWholeBytes >= kShortLimitBytesTcp, "a short message must fit a frame");
static_assert(kSegmentBytes <= 1U << 30);

// The fixed part before each frame's head.
struct FramePrefix {
  // Checksum of head and content.
  std::uint32_t crc = 0;
  // At most kSegmentBytes.
  std::uint32_t content_bytes = 0;
  // kFrameHeadMinBytes to kFrameHeadMaxBytes.
  std::uint32_t head_bytes = 0;
};

// Writes a prefix, with a checksum of the prefix itself, so that a damaged length never makes the receiver wait for
// bytes.
void write_prefix(const FramePrefix& prefix, std::byte* out);
// Reads a prefix. Returns "" or the mistake, as a static text. Requires: `in` has kPrefixBytes.
[[nodiscard]] std::string_view read_prefix(const std::byte* in, FramePrefix& prefix);

}  // namespace margay::sim
