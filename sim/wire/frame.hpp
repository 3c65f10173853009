// The frame codec: how a wire carries a header. docs/frame_format.md is the specification.
//
// A frame's head is 16 to 64 bytes: a fixed part and the groups of fields that its flags name, so every head fits one
// cell of the shared memory ring, and a short put with its whole user data and a body of 40 bytes does too. Source and
// destination are not in it: they come from the connection. Nothing in it is an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "portals/base/header.hpp"
#include "sim/base/limits.hpp"

namespace margay::sim {

// Byte 1 of a control frame; a message has none.
enum class FrameType : std::uint8_t {
  message = 0,
  cut = 1,      // argument: bytes of the body of the last message that were carried; the remainder will not come
  segment = 2,  // argument: bytes of a body that follow (tcp)
  goodbye = 3,  // argument: messages sent in all (tcp)
};
inline constexpr std::uint8_t kFrameTypeCount = 4;
[[nodiscard]] std::string_view name(FrameType type);

// Bits of byte 2: which groups follow the fixed part.
inline constexpr std::uint8_t kFlagUserTail = 0x01;  // 8 bytes: user data 4 to 11
inline constexpr std::uint8_t kFlagOffset = 0x02;    // 8 bytes
inline constexpr std::uint8_t kFlagAnswer = 0x04;    // 8 bytes return match bits, and at the end 1 byte return portal
inline constexpr std::uint8_t kFlagReturnRange = 0x08;  // 16 bytes: return length, return offset
inline constexpr std::uint8_t kFlagLongLength = 0x10;   // 7 bytes: the upper part of the length
inline constexpr std::uint8_t kFlagReadBody = 0x20;     // shm: the body is offered for reading, not sent
inline constexpr std::uint8_t kFlagControl = 0x40;
inline constexpr std::uint8_t kFlagsKnown = 0x7f;

inline constexpr std::size_t kFrameHeadMinBytes = 16;
inline constexpr std::size_t kFrameHeadMaxBytes = 64;
inline constexpr std::size_t kShortPutHeadBytes = 24;  // fixed part and whole user data
inline constexpr std::size_t kShortPutBodyBytes = 40;
static_assert(kFrameHeadMinBytes + 8 + 8 + 8 + 16 + 7 + 1 == kFrameHeadMaxBytes);
static_assert(kFrameHeadMaxBytes == kCacheLineBytes);
static_assert(kShortPutHeadBytes + kShortPutBodyBytes == kCacheLineBytes);

struct EncodedHead {
  std::uint64_t first_word = 0;  // bytes 0-7, little-endian; byte 0 is zero: it belongs to the wire
  std::size_t bytes = 0;         // of the head, the first eight included
};
// Writes bytes 8 and up of the head to `out` (its first eight are left alone). Requires: `out` has kFrameHeadMaxBytes.
// Of any header; encode_plain_head() does the commonest one in 26 instructions. tests/sim/frame_codec_test holds the
// two to the same bytes, and the two decoders to the same headers.
[[nodiscard]] EncodedHead encode_head(const portals::Header& header, std::byte* out, bool read_body = false);
// encode_head()'s twin for the commonest head, of 16 bytes without groups. False: it is another, nothing was written.
[[nodiscard]] inline bool encode_plain_head(const portals::Header& header, std::byte* out, std::uint64_t& first_word) {
  std::uint64_t user_tail = 0;
  std::memcpy(&user_tail, header.user_data.data() + 4, sizeof user_tail);
  const std::uint64_t groups = user_tail | header.offset | header.return_match_bits | header.return_length |
                               header.return_offset | (header.length >> 8);
  if (groups != 0 || header.return_portal != portals::kNoPortal) return false;
  std::uint32_t user_head = 0;
  std::memcpy(&user_head, header.user_data.data(), sizeof user_head);
  std::memcpy(out + 8, &header.match_bits, 8);
  const std::uint64_t kind_and_portal = static_cast<std::uint64_t>(header.kind) | std::uint64_t{header.portal} << 2;
  first_word = kind_and_portal << 8 | header.length << 24 | std::uint64_t{user_head} << 32;
  return true;
}
[[nodiscard]] EncodedHead encode_control(FrameType type, std::uint64_t argument, std::byte* out);
// The whole head in one piece of memory; returns its bytes. Requires: `out` has kFrameHeadMaxBytes.
std::size_t write_head(const portals::Header& header, std::byte* out);
std::size_t write_control(FrameType type, std::uint64_t argument, std::byte* out);

// What a head says besides the message's header.
struct DecodedHead {
  FrameType type = FrameType::message;
  std::uint64_t argument = 0;  // control
  bool read_body = false;      // message: kFlagReadBody
  std::size_t bytes = 0;       // of the head
};
enum class Decode : std::uint8_t { ok, incomplete, malformed };
struct DecodeResult {
  Decode verdict = Decode::ok;
  std::size_t needed = 0;   // incomplete: bytes of input with which to try again
  std::string_view reason;  // malformed: what is wrong with the frame; static
};
// decode_head()'s twin for the commonest head, of 16 bytes without groups, out of its two words: a short message
// without notes. False: it is another, ask decode_head(). Writes `header` as decode_head() does; byte 0 is not looked
// at.
[[nodiscard]] inline bool decode_plain_head(std::uint64_t first, std::uint64_t second, portals::Header& header) {
  const auto kind = static_cast<portals::Kind>((first >> 8) & 3);
  const std::uint64_t length = (first >> 24) & 0xff;
  // A get has a return portal, and so a group.
  const bool wrong = kind == portals::Kind::get || (kind == portals::Kind::acknowledgment && length != 0);
  if (((first >> 16) & 0xff) != 0 || wrong) return false;
  // Kind, portals and user data by two stores of a word: whoever copies the header soon reads it by words, which
  // smaller stores would make a store-forwarding stall (5 ns a message).
  using portals::Header;
  static_assert(offsetof(Header, kind) == 0 && offsetof(Header, portal) == 1 && offsetof(Header, return_portal) == 2 &&
                offsetof(Header, user_data) == 3 && offsetof(Header, source) == 16 &&
                sizeof(portals::PortalIndex) == 1);
  const std::array<std::uint64_t, 2> head{
      (first >> 8 & 3) | (first >> 10 & 0x3f) << 8 | std::uint64_t{portals::kNoPortal} << 16 | first >> 32 << 24, 0};
  std::memcpy(static_cast<void*>(&header), head.data(), sizeof head);
  header.match_bits = second;
  header.length = length;
  header.offset = header.return_match_bits = header.return_length = header.return_offset = 0;
  return true;
}
// Reads any frame, bounds checked: nothing beyond `input`; byte 0 is not looked at. One header has one encoding: a
// group that is announced but holds only what its absence means is malformed; so is kFlagReadBody, unless allowed.
// decode_plain_head() is its twin for the commonest head (tests/sim/frame_codec_test).
// `header` is written where it will be used: a copy of 88 fresh bytes costs more than the decoding. Its source and
// destination, which no frame carries, are left alone; a control frame leaves all of it alone. After `malformed` it may
// be half written.
[[nodiscard]] DecodeResult decode_head(std::span<const std::byte> input, portals::Header& header, DecodedHead& out,
                                       bool may_read_body = false);

}  // namespace margay::sim
