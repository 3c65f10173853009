// The frame codec: the byte form of a header on a wire. docs/frame_format.md is the specification.
//
// A frame's head has 16 to 64 bytes: a fixed part, and the groups of fields that its flags announce. So every head fits
// one cell of the shared memory ring. A put whose head has no group but the user data fits a cell with a body of up to
// 40 bytes. A head does not contain source and destination, because the connection determines them, and it contains no
// address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "portals/base/header.hpp"
#include "sim/base/limits.hpp"

namespace margay::sim {

// The types of frames. A control frame has its type in byte 1; a message has its kind and portal there.
enum class FrameType : std::uint8_t {
  message = 0,
  // The body of the last message ends here. Argument: the number of its bytes that were sent.
  cut = 1,
  // A part of a body follows (tcp). Argument: the number of its bytes.
  segment = 2,
  // The sender leaves the job in an orderly way (tcp). Argument: the number of all messages that it sent.
  goodbye = 3,
};
inline constexpr std::uint8_t kFrameTypeCount = 4;
[[nodiscard]] std::string_view name(FrameType type);

// The flags, bits of byte 2. A flag announces a group of fields after the fixed part, unless its comment states
// otherwise.
// 8 bytes: user data 4 to 11.
inline constexpr std::uint8_t kFlagUserTail = 0x01;
// 8 bytes: offset.
inline constexpr std::uint8_t kFlagOffset = 0x02;
// 8 bytes: return match bits; and at the head's end 1 byte: return portal.
inline constexpr std::uint8_t kFlagAnswer = 0x04;
// 16 bytes: return length, return offset.
inline constexpr std::uint8_t kFlagReturnRange = 0x08;
// 7 bytes: the upper part of a length above 255.
inline constexpr std::uint8_t kFlagLongLength = 0x10;
// No group. Shared memory only: the body is not sent, but offered for reading.
inline constexpr std::uint8_t kFlagReadBody = 0x20;
// No group. A control frame; no other flag may be set.
inline constexpr std::uint8_t kFlagControl = 0x40;
// All flags. A frame with another flag is malformed.
inline constexpr std::uint8_t kFlagsKnown = 0x7f;

// Length of the fixed part, and of a head with all groups.
inline constexpr std::size_t kFrameHeadMinBytes = 16;
inline constexpr std::size_t kFrameHeadMaxBytes = 64;
// Length of a short put's head, with the whole user data, and of the longest body that fits a cell with this head.
inline constexpr std::size_t kShortPutHeadBytes = 24;
inline constexpr std::size_t kShortPutBodyBytes = 40;
static_assert(kFrameHeadMinBytes + 8 + 8 + 8 + 16 + 7 + 1 == kFrameHeadMaxBytes);
static_assert(kFrameHeadMaxBytes == kCacheLineBytes);
static_assert(kShortPutHeadBytes + kShortPutBodyBytes == kCacheLineBytes);

// An encoded head without its first word. The caller writes the first word, because a ring publishes a cell by that
// word.
struct EncodedHead {
  // Bytes 0 to 7, little-endian. Byte 0 is zero here and belongs to the wire.
  std::uint64_t first_word = 0;
  // Length of the head, the first word included.
  std::size_t bytes = 0;
};
// Encodes any header: writes the head from byte 8 on to `out`, and does not change the first eight bytes there.
// Requires: `out` has kFrameHeadMaxBytes. encode_plain_head() encodes the commonest head in 26 instructions.
// tests/sim/wire/frame_codec_test compares the bytes of the two encoders, and the headers of the two decoders.
[[nodiscard]] EncodedHead encode_head(const portals::Header& header, std::byte* out, bool read_body = false);
// encode_head()'s twin for the commonest head: 16 bytes, without groups. False: the header needs groups, and nothing
// was written.
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
// Encodes a control frame as encode_head() encodes a message. Requires: type is not `message`.
[[nodiscard]] EncodedHead encode_control(FrameType type, std::uint64_t argument, std::byte* out);
// Writes the whole head, first word included, and returns its length. Requires: `out` has kFrameHeadMaxBytes.
std::size_t write_head(const portals::Header& header, std::byte* out);
// The same for a control frame.
std::size_t write_control(FrameType type, std::uint64_t argument, std::byte* out);

// The content of a head beside the message's header.
struct DecodedHead {
  FrameType type = FrameType::message;
  // A control frame's argument.
  std::uint64_t argument = 0;
  // The message has kFlagReadBody.
  bool read_body = false;
  // Length of the head.
  std::size_t bytes = 0;
};
// The results of decoding. ok: a head. incomplete: more bytes are needed. malformed: bytes that margay never writes;
// they end the connection.
enum class Decode : std::uint8_t { ok, incomplete, malformed };
// The result of decode_head().
struct DecodeResult {
  Decode verdict = Decode::ok;
  // incomplete: the number of bytes of input that the next attempt needs at least.
  std::size_t needed = 0;
  // malformed: the mistake in the frame; static.
  std::string_view reason;
};
// decode_head()'s twin for the commonest head: 16 bytes, without groups, given as two words. Writes `header` as
// decode_head() does, and ignores byte 0. False: the head has groups or is malformed, and the caller must use
// decode_head().
[[nodiscard]] inline bool decode_plain_head(std::uint64_t first, std::uint64_t second, portals::Header& header) {
  const auto kind = static_cast<portals::Kind>((first >> 8) & 3);
  const std::uint64_t length = (first >> 24) & 0xff;
  // A get has a return portal, and therefore a group.
  const bool wrong = kind == portals::Kind::get || (kind == portals::Kind::acknowledgment && length != 0);
  if (((first >> 16) & 0xff) != 0 || wrong) return false;
  // Kind, portals and user data are stored as two words. The caller soon copies the header by words, and smaller stores
  // would cause a store-forwarding stall (5 ns a message).
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
// Decodes any frame's head, with bounds checks. Reads nothing beyond `input`, and ignores byte 0. Each header has
// exactly one encoding, so a head with a group that its header does not need is malformed. A head with kFlagReadBody is
// malformed unless `may_read_body`. decode_plain_head() is the twin for the commonest head
// (tests/sim/wire/frame_codec_test). `header` is written in place, because a copy of 80 fresh bytes costs more than the
// decoding. Its source and destination are not changed, because no frame contains them. A control frame does not change
// `header`. After `malformed`, `header` may be written in part.
[[nodiscard]] DecodeResult decode_head(std::span<const std::byte> input, portals::Header& header, DecodedHead& out,
                                       bool may_read_body = false);

}  // namespace margay::sim
