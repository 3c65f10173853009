// Tests of the frames of datagrams: lengths, every changed bit, other keys.
#include "libraries/nexus/modules/udp_frame.hpp"

#include <doctest/doctest.h>

#include "tests/libraries/nexus/modules/fake_services.hpp"

namespace margay::nexus::test {

using core::UdpFrame;

static std::vector<std::byte> encoded(const UdpFrame& frame, const core::ModuleKey& key) {
  std::array<std::byte, core::kUdpFrameMost> out{};
  const std::size_t bytes = core::encode_udp(frame, key, out);
  return {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(bytes)};
}

static UdpFrame part_of(std::uint32_t message_bytes, std::uint16_t part, const std::vector<std::byte>& bytes) {
  UdpFrame frame;
  frame.from = 3;
  frame.to = 4;
  frame.part = part;
  frame.parts = core::udp_parts(message_bytes);
  frame.message_bytes = message_bytes;
  frame.number = 0x1122334455667788;
  frame.from_session = 0xAABB;
  frame.to_session = 0xCCDD;
  frame.part_bytes = bytes;
  return frame;
}

TEST_CASE("a frame is decoded to what was encoded, for each length of a part") {
  const core::ModuleKey key{std::byte{9}};
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, core::kUdpPartMost}) {
    const std::vector<std::byte> part = pattern(bytes);
    const std::vector<std::byte> datagram = encoded(part_of(static_cast<std::uint32_t>(bytes), 0, part), key);
    CHECK(datagram.size() == core::kUdpHeaderBytes + bytes);
    const auto frame = core::decode_udp(datagram);
    REQUIRE(frame);
    CHECK(frame->from == 3);
    CHECK(frame->to == 4);
    CHECK(frame->number == 0x1122334455667788);
    CHECK(frame->from_session == 0xAABB);
    CHECK(frame->to_session == 0xCCDD);
    CHECK(std::equal(part.begin(), part.end(), frame->part_bytes.begin(), frame->part_bytes.end()));
    CHECK(core::verify_udp(datagram, key));
  }
}

TEST_CASE("the parts of a message: their number and lengths") {
  CHECK(core::udp_parts(0) == 1);
  CHECK(core::udp_parts(core::kUdpPartMost) == 1);
  CHECK(core::udp_parts(core::kUdpPartMost + 1) == 2);
  CHECK(core::udp_parts(core::kUdpMessageMost) == 256);
  const core::ModuleKey key{};
  const std::uint32_t message = core::kUdpPartMost + 10;
  CHECK(core::decode_udp(encoded(part_of(message, 1, pattern(10)), key)));
  // The last part with another length, a part beyond the last, a first part that is short.
  CHECK_FALSE(core::decode_udp(encoded(part_of(message, 1, pattern(9)), key)));
  CHECK_FALSE(core::decode_udp(encoded(part_of(message, 2, pattern(10)), key)));
  CHECK_FALSE(core::decode_udp(encoded(part_of(message, 0, pattern(10)), key)));
  CHECK_FALSE(core::decode_udp(encoded(part_of(core::kUdpMessageMost + 1, 0, pattern(core::kUdpPartMost)), key)));
}

TEST_CASE("each changed bit is detected, by the fields or by the tag") {
  const core::ModuleKey key{std::byte{1}};
  const std::vector<std::byte> part = pattern(40);
  const std::vector<std::byte> datagram = encoded(part_of(40, 0, part), key);
  for (std::size_t bit = 0; bit < 8 * datagram.size(); ++bit) {
    std::vector<std::byte> changed = datagram;
    changed[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    CHECK_FALSE((core::decode_udp(changed) && core::verify_udp(changed, key)));
  }
}

TEST_CASE("a frame by another key, a short and a long one are refused") {
  const std::vector<std::byte> part = pattern(40);
  const core::ModuleKey key{std::byte{1}};
  std::vector<std::byte> datagram = encoded(part_of(40, 0, part), key);
  CHECK_FALSE(core::verify_udp(datagram, core::ModuleKey{std::byte{2}}));
  for (std::size_t bytes = 0; bytes < datagram.size(); ++bytes) {
    CHECK_FALSE(core::decode_udp(std::span(datagram).first(bytes)));
  }
  datagram.push_back(std::byte{0});
  CHECK_FALSE(core::decode_udp(datagram));
  CHECK_FALSE(core::decode_udp(std::vector<std::byte>(core::kUdpFrameMost + 1)));
}

TEST_CASE("the keys of both directions differ") {
  const core::ModuleKey pair{std::byte{5}};
  CHECK(core::direction_key(pair, 1, 2) == core::direction_key(pair, 1, 2));
  CHECK(core::direction_key(pair, 1, 2) != core::direction_key(pair, 2, 1));
  CHECK(core::direction_key(pair, 1, 2) != core::direction_key(core::ModuleKey{std::byte{6}}, 1, 2));
}

}  // namespace margay::nexus::test
