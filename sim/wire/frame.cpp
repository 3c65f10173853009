#include "sim/wire/frame.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "portals/base/assert.hpp"

namespace margay::sim {
namespace {

using portals::Header;
using portals::Kind;

static_assert(std::endian::native == std::endian::little, "frames are little-endian and written as they lie");
static_assert(portals::kKindCount == 4 && portals::kPortalCount == 64, "kind and portal share byte 1");
static_assert(portals::kUserDataBytes == 12);

constexpr std::size_t kUserHeadBytes = 4;
constexpr std::size_t kUserTailBytes = 8;
constexpr std::size_t kLengthTailBytes = 7;

std::uint64_t load(const std::byte* from, std::size_t bytes = 8) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

// Appends fields to a head, unaligned.
class Writer {
 public:
  explicit Writer(std::byte* out) : at_(out) {}
  void put(std::uint64_t value) {
    std::memcpy(at_, &value, 8);
    at_ += 8;
  }
  void put_low(std::uint64_t value, std::size_t bytes) {
    std::memcpy(at_, &value, bytes);
    at_ += bytes;
  }
  [[nodiscard]] std::size_t since(const std::byte* begin) const { return static_cast<std::size_t>(at_ - begin); }

 private:
  std::byte* at_;
};

// The flags of the groups that a header needs. The encoder sets exactly these flags, and the decoder demands them.
std::uint8_t groups_of(const Header& header, std::uint64_t user_tail) {
  std::uint8_t flags = 0;
  if (user_tail != 0) flags |= kFlagUserTail;
  if (header.offset != 0) flags |= kFlagOffset;
  if (header.return_portal != portals::kNoPortal || header.return_match_bits != 0) flags |= kFlagAnswer;
  if ((header.return_length | header.return_offset) != 0) flags |= kFlagReturnRange;
  if (header.length > 0xff) flags |= kFlagLongLength;
  return flags;
}

// The length of a head. It follows from the flags alone, so a receiver can wait for the whole head.
std::size_t head_bytes(std::uint8_t flags) {
  std::size_t bytes = kFrameHeadMinBytes;
  if ((flags & kFlagUserTail) != 0) bytes += kUserTailBytes;
  if ((flags & kFlagOffset) != 0) bytes += 8;
  if ((flags & kFlagAnswer) != 0) bytes += 9;
  if ((flags & kFlagReturnRange) != 0) bytes += 16;
  if ((flags & kFlagLongLength) != 0) bytes += kLengthTailBytes;
  return bytes;
}

DecodeResult malformed(std::string_view reason) {
  return {Decode::malformed, 0, reason};
}

// Decodes a control frame. All bits except byte 0, type, control flag and argument must be zero, so that a control
// frame has exactly one encoding, as a message has.
DecodeResult decode_control(std::span<const std::byte> input, std::uint8_t flags, DecodedHead& out) {
  if (flags != kFlagControl) return malformed("control frame with flags of a message");
  const auto type = static_cast<std::uint8_t>(input[1]);
  if (type == 0 || type >= kFrameTypeCount) return malformed("unknown control frame");
  // These bytes are reserved: a later version may use them, and this version then rejects the frame.
  if (load(input.data() + 3, 5) != 0) return malformed("control frame with reserved bytes set");
  if (input.size() < kFrameHeadMinBytes) return {Decode::incomplete, kFrameHeadMinBytes, {}};
  out.type = static_cast<FrameType>(type);
  out.argument = load(input.data() + 8);
  out.bytes = kFrameHeadMinBytes;
  return {};
}

// Reads the groups after the fixed part, in the order of docs/frame_format.md. Requires: the input has them.
void read_groups(const std::byte* at, std::uint8_t flags, Header& header) {
  header.offset = header.return_match_bits = header.return_length = header.return_offset = 0;
  header.return_portal = portals::kNoPortal;
  // Most messages have no groups.
  if (flags == 0) [[likely]] {
    std::memset(header.user_data.data() + kUserHeadBytes, 0, kUserTailBytes);
    return;
  }
  const auto take = [&at](std::size_t bytes = 8) {
    const std::uint64_t value = load(at, bytes);
    at += bytes;
    return value;
  };
  const std::uint64_t user_tail = (flags & kFlagUserTail) != 0 ? take() : 0;
  std::memcpy(header.user_data.data() + kUserHeadBytes, &user_tail, kUserTailBytes);
  if ((flags & kFlagOffset) != 0) header.offset = take();
  if ((flags & kFlagAnswer) != 0) header.return_match_bits = take();
  if ((flags & kFlagReturnRange) != 0) {
    header.return_length = take();
    header.return_offset = take();
  }
  if ((flags & kFlagLongLength) != 0) header.length |= take(kLengthTailBytes) << 8;
  if ((flags & kFlagAnswer) != 0) header.return_portal = static_cast<portals::PortalIndex>(take(1));
}

DecodeResult check(const Header& header, std::uint8_t flags) {
  if (header.length > kMessageLimitBytes) return malformed("length beyond the limit of a message");
  if (header.length != 0 && (header.kind == Kind::get || header.kind == Kind::acknowledgment)) {
    return malformed("a body announced for a get or an acknowledgment");
  }
  if (header.return_portal >= portals::kPortalCount && header.return_portal != portals::kNoPortal) {
    return malformed("return portal beyond the portal table");
  }
  // The get's reply would have no destination.
  if (header.kind == Kind::get && header.return_portal == portals::kNoPortal) {
    return malformed("a get without a return portal");
  }
  if ((flags & kFlagReadBody) != 0 && header.length == 0) return malformed("an empty body offered for reading");
  std::uint64_t user_tail = 0;
  std::memcpy(&user_tail, header.user_data.data() + kUserHeadBytes, kUserTailBytes);
  if (groups_of(header, user_tail) != (flags & ~kFlagReadBody))
    return malformed("a group of fields that the header does not need");
  return {};
}

}  // namespace

std::string_view name(FrameType type) {
  constexpr std::array<std::string_view, kFrameTypeCount> kNames = {"message", "cut", "segment", "goodbye"};
  const auto index = static_cast<std::size_t>(type);
  return index < kNames.size() ? kNames[index] : "unknown";
}

EncodedHead encode_head(const Header& header, std::byte* out, bool read_body) {
  // Callers have checked a program's values, so a violation is margay's own mistake.
  MARGAY_ASSERT(header.portal < portals::kPortalCount && header.length <= kMessageLimitBytes);
  // The canonical encoding, so that equal headers have equal bytes on every path.
  std::uint64_t user_tail = 0;
  std::memcpy(&user_tail, header.user_data.data() + kUserHeadBytes, kUserTailBytes);
  const std::uint64_t user_head = load(header.user_data.data(), kUserHeadBytes);
  const std::uint8_t flags = groups_of(header, user_tail);
  Writer writer(out + 8);
  writer.put(header.match_bits);
  if ((flags & kFlagUserTail) != 0) writer.put(user_tail);
  if ((flags & ~kFlagUserTail) != 0) {
    if ((flags & kFlagOffset) != 0) writer.put(header.offset);
    if ((flags & kFlagAnswer) != 0) writer.put(header.return_match_bits);
    if ((flags & kFlagReturnRange) != 0) {
      writer.put(header.return_length);
      writer.put(header.return_offset);
    }
    if ((flags & kFlagLongLength) != 0) writer.put_low(header.length >> 8, kLengthTailBytes);
    if ((flags & kFlagAnswer) != 0) writer.put_low(header.return_portal, 1);
  }
  const std::uint64_t all_flags = flags | (read_body ? kFlagReadBody : 0U);
  const std::uint64_t kind_and_portal = static_cast<std::uint64_t>(header.kind) | std::uint64_t{header.portal} << 2;
  return {kind_and_portal << 8 | all_flags << 16 | (header.length & 0xff) << 24 | user_head << 32, writer.since(out)};
}

EncodedHead encode_control(FrameType type, std::uint64_t argument, std::byte* out) {
  MARGAY_ASSERT(type != FrameType::message);
  std::memcpy(out + 8, &argument, 8);
  return {static_cast<std::uint64_t>(type) << 8 | std::uint64_t{kFlagControl} << 16, kFrameHeadMinBytes};
}

std::size_t write_head(const Header& header, std::byte* out) {
  const EncodedHead head = encode_head(header, out);
  std::memcpy(out, &head.first_word, 8);
  return head.bytes;
}

std::size_t write_control(FrameType type, std::uint64_t argument, std::byte* out) {
  const EncodedHead head = encode_control(type, argument, out);
  std::memcpy(out, &head.first_word, 8);
  return head.bytes;
}

DecodeResult decode_head(std::span<const std::byte> input, Header& header, DecodedHead& out, bool may_read_body) {
  // The flags are in the first eight bytes, and determine the length of the head.
  if (input.size() < 8) return {Decode::incomplete, kFrameHeadMinBytes, {}};
  const auto flags = static_cast<std::uint8_t>(input[2]);
  if ((flags & ~kFlagsKnown) != 0) return malformed("unknown flag");
  if ((flags & kFlagControl) != 0) return decode_control(input, flags, out);
  if ((flags & kFlagReadBody) != 0 && !may_read_body)
    return malformed("a body offered for reading on a wire without such offers");
  const std::size_t bytes = head_bytes(flags);
  if (input.size() < bytes) return {Decode::incomplete, bytes, {}};
  const auto kind_and_portal = static_cast<std::uint8_t>(input[1]);
  header.kind = static_cast<Kind>(kind_and_portal & 3);
  header.portal = static_cast<portals::PortalIndex>(kind_and_portal >> 2);
  header.length = static_cast<std::uint8_t>(input[3]);
  std::memcpy(header.user_data.data(), input.data() + 4, kUserHeadBytes);
  header.match_bits = load(input.data() + 8);
  out.type = FrameType::message;
  out.read_body = (flags & kFlagReadBody) != 0;
  out.bytes = bytes;
  read_groups(input.data() + kFrameHeadMinBytes, flags, header);
  // Without groups, check() can fail in two cases only: a get, which needs a return portal and therefore a group; and
  // an acknowledgment with a length. All other heads without groups are correct.
  if (flags == 0 && (header.kind == Kind::put || header.kind == Kind::reply)) [[likely]]
    return {};
  return check(header, flags);
}

}  // namespace margay::sim
