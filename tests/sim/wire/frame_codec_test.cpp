#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "sim/wire/frame.hpp"

namespace margay::sim {
namespace {

using portals::Header;
using portals::Kind;
using Head = std::array<std::byte, kFrameHeadMaxBytes>;

std::vector<std::byte> encoded(const Header& header) {
  Head head{};
  const std::size_t bytes = write_head(header, head.data());
  return {head.begin(), head.begin() + static_cast<std::ptrdiff_t>(bytes)};
}

// Decodes a copy of `input` on the heap, so that the address sanitizer detects a read beyond its end.
struct Decoded : DecodedHead {
  Header header;
};

DecodeResult decode(const std::vector<std::byte>& input, Decoded& out) {
  const std::vector<std::byte> exact(input.begin(), input.end());
  return decode_head(exact, out.header, out);
}

constexpr std::uint64_t kEdges[] = {
    0, 1, 0x7fff'ffff'ffff'fffe, 0x7fff'ffff'ffff'ffff, 0x8000'0000'0000'0000, 0xffff'ffff'ffff'ffff};

Header random_header(std::mt19937_64& random) {
  const auto value = [&]() -> std::uint64_t {
    switch (random() % 4) {
      case 0:
        return 0;
      case 1:
        return kEdges[random() % std::size(kEdges)];
      case 2:
        return random() % 300;
      default:
        return random();
    }
  };
  Header header;
  header.kind = static_cast<Kind>(random() % portals::kKindCount);
  header.portal = static_cast<portals::PortalIndex>(random() % portals::kPortalCount);
  if (header.kind == Kind::get || random() % 2 != 0) {
    header.return_portal = static_cast<portals::PortalIndex>(random() % portals::kPortalCount);
  }
  for (std::byte& byte : header.user_data) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
  header.match_bits = value();
  header.offset = value();
  header.return_match_bits = value();
  header.return_length = value();
  header.return_offset = value();
  if (header.kind == Kind::put || header.kind == Kind::reply) header.length = std::min(value(), kMessageLimitBytes);
  return header;
}

TEST_CASE("frame: every header is read back, from at most a cache line") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const Header header = random_header(random);
    const std::vector<std::byte> frame = encoded(header);
    CHECK_LE(frame.size(), kFrameHeadMaxBytes);
    Decoded decoded;
    const DecodeResult result = decode(frame, decoded);
    REQUIRE_MESSAGE(result.verdict == Decode::ok, std::string(result.reason));
    CHECK_EQ(decoded.bytes, frame.size());
    CHECK(decoded.type == FrameType::message);
    CHECK(decoded.header == header);
  }
}

TEST_CASE("frame: the sizes are those for which the ring is built") {
  Header header;
  header.match_bits = ~std::uint64_t{0};
  header.portal = 63;
  header.length = 40;
  CHECK_EQ(encoded(header).size(), 16);
  header.user_data[3] = std::byte{1};
  CHECK_EQ(encoded(header).size(), 16);
  header.user_data[11] = std::byte{1};
  CHECK_EQ(encoded(header).size(), kShortPutHeadBytes);
  header.offset = header.return_length = header.return_offset = header.return_match_bits = ~std::uint64_t{0};
  header.return_portal = 63;
  header.length = kMessageLimitBytes;
  CHECK_EQ(encoded(header).size(), kFrameHeadMaxBytes);
}

TEST_CASE("frame: the decoder returns the needed bytes of a truncated frame, at most those of the whole frame") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 500; ++i) {
    const std::vector<std::byte> frame = encoded(random_header(random));
    for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
      Decoded decoded;
      const DecodeResult result = decode({frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes)}, decoded);
      REQUIRE(result.verdict == Decode::incomplete);
      CHECK_GT(result.needed, bytes);
      CHECK_LE(result.needed, frame.size());
    }
  }
}

// The offset of each field in a frame that has all of them.
struct Field {
  const char* name;
  std::size_t at, bytes;
};
constexpr Field kFields[] = {{"sequence", 0, 1},         {"kind and portal", 1, 1}, {"flags", 2, 1},
                             {"length, low", 3, 1},      {"user data, head", 4, 4}, {"match bits", 8, 8},
                             {"user data, tail", 16, 8}, {"offset", 24, 8},         {"return match bits", 32, 8},
                             {"return length", 40, 8},   {"return offset", 48, 8},  {"length, upper", 56, 7},
                             {"return portal", 63, 1}};

bool may_be(const std::vector<std::byte>& frame, const Decoded& decoded) {
  if (decoded.type != FrameType::message) return true;
  const Header& header = decoded.header;
  if (header.length > kMessageLimitBytes) return false;
  if (header.length != 0 && (header.kind == Kind::get || header.kind == Kind::acknowledgment)) return false;
  if (header.return_portal >= portals::kPortalCount && header.return_portal != portals::kNoPortal) return false;
  if (header.kind == Kind::get && header.return_portal == portals::kNoPortal) return false;
  // An accepted frame has one encoding: writing it again gives the same bytes.
  std::vector<std::byte> again = encoded(header);
  again[0] = frame[0];
  return again.size() <= frame.size() && std::equal(again.begin(), again.end(), frame.begin());
}

TEST_CASE("frame: each field at its edges, for each kind, is accepted or rejected with a reason") {
  int refused = 0;
  for (std::uint8_t kind = 0; kind < portals::kKindCount; ++kind) {
    Header full;
    full.kind = static_cast<Kind>(kind);
    full.user_data.fill(std::byte{0x55});
    full.portal = 5;
    full.return_portal = 6;
    full.match_bits = full.offset = full.return_match_bits = full.return_length = full.return_offset = 0x0101;
    const bool has_body = full.kind == Kind::put || full.kind == Kind::reply;
    full.length = has_body ? 0x1234 : 0;
    const std::vector<std::byte> frame = encoded(full);
    REQUIRE_EQ(frame.size(), has_body ? 64 : 57);
    for (const Field& field : kFields) {
      const bool shifted = !has_body && field.at >= 56;
      if (shifted && field.bytes != 1) continue;  // this frame has no upper bytes of a length
      const std::size_t at = shifted ? 56 : field.at;
      const std::uint64_t mask = field.bytes == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * field.bytes)) - 1;
      for (const std::uint64_t value :
           {std::uint64_t{0}, std::uint64_t{1}, mask - 1, mask, mask >> 1, mask ^ (mask >> 1)}) {
        CAPTURE(field.name);
        CAPTURE(value);
        std::vector<std::byte> bad = frame;
        std::memcpy(bad.data() + at, &value, field.bytes);
        Decoded decoded;
        const DecodeResult result = decode(bad, decoded);
        if (result.verdict == Decode::ok)
          CHECK(may_be(bad, decoded));
        else if (result.verdict == Decode::malformed)
          CHECK_FALSE(result.reason.empty());
        else
          CHECK_GT(result.needed, bad.size());
        refused += result.verdict == Decode::malformed ? 1 : 0;
      }
    }
  }
  CHECK_GT(refused, 40);
}

struct Bad {
  const char* reason;
  std::vector<int> bytes;
};

TEST_CASE("frame: specific malformed frames are rejected") {
  const auto fixed = [](int kind, int flags, int length) {
    std::vector<int> bytes(16, 1);
    bytes[0] = 0, bytes[1] = kind, bytes[2] = flags, bytes[3] = length;
    return bytes;
  };
  const auto with = [&](std::vector<int> bytes, const std::vector<int>& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return bytes;
  };
  const std::vector<int> zeros8(8, 0);
  const std::vector<Bad> table = {
      {"unknown flag", fixed(0, 0x80, 0)},
      {"a body offered for reading on a wire without such offers", fixed(0, 0x20, 9)},
      {"a body announced for a get or an acknowledgment", fixed(1, 0, 1)},
      {"a body announced for a get or an acknowledgment", fixed(3, 0, 255)},
      {"a get without a return portal", fixed(1, 0, 0)},
      {"a get without a return portal", with(fixed(1, kFlagOffset, 0), {1, 0, 0, 0, 0, 0, 0, 0})},
      {"a get without a return portal", with(fixed(1, kFlagAnswer, 0), {1, 0, 0, 0, 0, 0, 0, 0, 255})},
      {"a group of fields that the header does not need", with(fixed(0, kFlagUserTail, 0), zeros8)},
      {"a group of fields that the header does not need", with(fixed(0, kFlagOffset, 0), zeros8)},
      {"a group of fields that the header does not need", with(fixed(0, kFlagAnswer, 0), with(zeros8, {255}))},
      {"a group of fields that the header does not need", with(fixed(0, kFlagReturnRange, 0), with(zeros8, zeros8))},
      {"a group of fields that the header does not need", with(fixed(0, kFlagLongLength, 7), {0, 0, 0, 0, 0, 0, 0})},
      {"return portal beyond the portal table", with(fixed(0, kFlagAnswer, 0), with(zeros8, {64}))},
      {"return portal beyond the portal table", with(fixed(0, kFlagAnswer, 0), with(zeros8, {254}))},
      {"length beyond the limit of a message", with(fixed(0, kFlagLongLength, 1), {0, 0, 0, 0, 0, 0, 0x40})},
      {"length beyond the limit of a message", with(fixed(2, kFlagLongLength, 0), {0, 0, 0, 0, 0, 0, 0x80})},
      {"control frame with flags of a message", fixed(1, kFlagControl | kFlagOffset, 0)},
      {"unknown control frame", fixed(0, kFlagControl, 0)},
      {"unknown control frame", fixed(kFrameTypeCount, kFlagControl, 0)},
      {"unknown control frame", fixed(255, kFlagControl, 0)},
      {"control frame with reserved bytes set", fixed(1, kFlagControl, 1)},
  };
  for (const Bad& bad : table) {
    std::vector<std::byte> frame;
    for (const int byte : bad.bytes) frame.push_back(static_cast<std::byte>(byte));
    Decoded decoded;
    const DecodeResult result = decode(frame, decoded);
    CAPTURE(bad.reason);
    CHECK(result.verdict == Decode::malformed);
    CHECK_EQ(std::string(result.reason), std::string(bad.reason));
  }
}

TEST_CASE("frame: control frames are read back, and truncated ones are incomplete") {
  for (std::uint8_t type = 1; type < kFrameTypeCount; ++type) {
    for (const std::uint64_t argument : kEdges) {
      Head head{};
      CHECK_EQ(write_control(static_cast<FrameType>(type), argument, head.data()), kFrameHeadMinBytes);
      Decoded decoded;
      CHECK(decode_head(std::span(head).first(kFrameHeadMinBytes), decoded.header, decoded).verdict == Decode::ok);
      CHECK(decoded.type == static_cast<FrameType>(type));
      CHECK_EQ(decoded.argument, argument);
      for (std::size_t bytes = 0; bytes < kFrameHeadMinBytes; ++bytes) {
        CHECK(decode_head(std::span(head).first(bytes), decoded.header, decoded).verdict == Decode::incomplete);
      }
    }
    CHECK_NE(name(static_cast<FrameType>(type)), "unknown");
  }
}

TEST_CASE("frame: random bytes are accepted or rejected, and no byte beyond the end is read") {
  std::mt19937_64 random(4);
  int right = 0;
  for (int i = 0; i < 200'000; ++i) {
    std::vector<std::byte> frame(random() % 70);
    for (std::byte& byte : frame) byte = static_cast<std::byte>(random());
    if (frame.size() > 3) frame[2] &= std::byte{0x1f};
    Decoded decoded;
    const DecodeResult result = decode(frame, decoded);
    if (result.verdict != Decode::ok) continue;
    ++right;
    REQUIRE(may_be(frame, decoded));
  }
  CHECK_GT(right, 1000);
}

TEST_CASE("frame: the plain encoder writes the general one's bytes, or nothing") {
  std::mt19937_64 random(5);
  int plain = 0;
  for (int i = 0; i < 20'000; ++i) {
    Header header = random_header(random);
    if (i % 2 == 0) {
      const Header all = header;
      header = Header();
      header.kind = all.kind;
      header.portal = all.portal;
      header.match_bits = all.match_bits;
      header.length = all.length % 300;
      std::memcpy(header.user_data.data(), all.user_data.data(), 4);
      if (i % 64 == 0) header.user_data[static_cast<std::size_t>(4 + i % 8)] = std::byte{1};
    }
    Head general{};
    Head quick{};
    const EncodedHead head = encode_head(header, general.data());
    std::uint64_t first_word = 0;
    if (!encode_plain_head(header, quick.data(), first_word)) {
      CHECK_GT(head.bytes, kFrameHeadMinBytes);
      CHECK(quick == Head{});
      continue;
    }
    ++plain;
    REQUIRE_EQ(head.bytes, kFrameHeadMinBytes);
    REQUIRE_EQ(head.first_word, first_word);
    REQUIRE(quick == general);
  }
  CHECK_GT(plain, 5'000);
}

TEST_CASE("frame: the plain decoder reads as the general one does, or reports another head") {
  std::mt19937_64 random(6);
  int plain = 0;
  for (int i = 0; i < 100'000; ++i) {
    // Bytes 0 to 15 are the head; flags, length and kind are drawn so that all heads near a plain one occur.
    std::array<std::uint64_t, 2> words{random(), random()};
    if (i % 4 != 0) words[0] &= ~std::uint64_t{0x00ff'0000};
    if (i % 8 == 1) words[0] &= ~std::uint64_t{0xff00'0000};
    Head head{};
    std::memcpy(head.data(), words.data(), sizeof words);
    Header quick;
    Decoded general;
    const DecodeResult result = decode_head(std::span(head).first(kFrameHeadMinBytes), general.header, general);
    const bool read = decode_plain_head(words[0], words[1], quick);
    if (!read) {
      const bool whole = result.verdict == Decode::ok && general.type == FrameType::message;
      CHECK_FALSE(whole);
      continue;
    }
    ++plain;
    REQUIRE(result.verdict == Decode::ok);
    REQUIRE(general.type == FrameType::message);
    REQUIRE_EQ(general.bytes, kFrameHeadMinBytes);
    REQUIRE(quick == general.header);
  }
  CHECK_GT(plain, 30'000);
}

}  // namespace
}  // namespace margay::sim
