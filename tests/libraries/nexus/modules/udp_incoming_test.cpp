// Tests of the messages of one sender by datagrams: the law under random losses, repetitions and orders.
#include "libraries/nexus/modules/udp_incoming.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "tests/libraries/nexus/modules/fake_services.hpp"
#include "tests/support/seeds.hpp"

namespace margay::nexus::test {

using core::UdpAccepted;
using core::UdpFrame;
using core::UdpIncoming;

static UdpFrame frame_at(const std::vector<std::byte>& message, std::uint64_t number, std::uint16_t part) {
  UdpFrame frame;
  frame.message_bytes = static_cast<std::uint32_t>(message.size());
  frame.parts = core::udp_parts(frame.message_bytes);
  frame.part = part;
  frame.number = number;
  const std::size_t begin = core::udp_part_begin(part);
  frame.part_bytes =
      std::span<const std::byte>(message).subspan(begin, std::min(core::kUdpPartMost, message.size() - begin));
  return frame;
}

TEST_CASE("a message of several parts is complete once, whatever their order") {
  UdpIncoming incoming;
  const std::vector<std::byte> message = pattern(3 * core::kUdpPartMost + 7);
  CHECK(incoming.accept(frame_at(message, 0, 3)) == UdpAccepted::waiting);
  CHECK(incoming.accept(frame_at(message, 0, 1)) == UdpAccepted::waiting);
  CHECK(incoming.accept(frame_at(message, 0, 1)) == UdpAccepted::repeated);
  CHECK(incoming.accept(frame_at(message, 0, 0)) == UdpAccepted::waiting);
  REQUIRE(incoming.accept(frame_at(message, 0, 2)) == UdpAccepted::complete);
  CHECK(std::equal(message.begin(), message.end(), incoming.message().begin(), incoming.message().end()));
  incoming.count(core::MessageFate::delivered);
  CHECK(incoming.accept(frame_at(message, 0, 2)) == UdpAccepted::repeated);
  CHECK(incoming.law().delivered == 1);
  CHECK(incoming.law().lost == 0);
  CHECK(incoming.repeated() == 2);
}

TEST_CASE("losses are seen by gaps, and at the end by the total") {
  UdpIncoming incoming;
  const std::vector<std::byte> message = pattern(10);
  for (const std::uint64_t number : {0U, 1U, 4U}) {
    REQUIRE(incoming.accept(frame_at(message, number, 0)) == UdpAccepted::complete);
    incoming.count(core::MessageFate::delivered);
  }
  CHECK(incoming.law().lost == 2);
  incoming.end_at(10);
  CHECK(incoming.law().lost == 7);
  incoming.end_at(3);  // an older total that arrives later
  CHECK(incoming.law().sum() == 10);
}

TEST_CASE("the oldest incomplete message is given up, so memory is bounded") {
  UdpIncoming incoming;
  const std::vector<std::byte> message = pattern(core::kUdpPartMost + 1);
  for (std::uint64_t number = 0; number < 100; ++number) {
    CHECK(incoming.accept(frame_at(message, number, 0)) == UdpAccepted::waiting);
  }
  CHECK(incoming.law().lost == 100 - UdpIncoming::kIncompleteMost);
  CHECK(incoming.accept(frame_at(message, 0, 1)) == UdpAccepted::repeated);
  CHECK(incoming.accept(frame_at(message, 99, 1)) == UdpAccepted::complete);
  incoming.count(core::MessageFate::dropped);
  incoming.end_at(100);
  CHECK(incoming.law().dropped == 1);
  CHECK(incoming.law().lost == 99);
}

TEST_CASE("two messages of one number count once, and numbers below the window are refused") {
  UdpIncoming incoming;
  CHECK(incoming.accept(frame_at(pattern(core::kUdpPartMost + 1), 0, 0)) == UdpAccepted::waiting);
  CHECK(incoming.accept(frame_at(pattern(core::kUdpPartMost + 2), 0, 1)) == UdpAccepted::repeated);
  CHECK(incoming.accept(frame_at(pattern(1), 5000, 0)) == UdpAccepted::complete);
  CHECK(incoming.accept(frame_at(pattern(1), 5000 - core::NumberWindow::kNumbers, 0)) == UdpAccepted::repeated);
  CHECK(incoming.accept(frame_at(pattern(1), 5001 - core::NumberWindow::kNumbers, 0)) == UdpAccepted::complete);
}

TEST_CASE("sent = delivered + dropped + lost, for random losses, repetitions and orders") {
  for (const std::uint64_t seed : testing::Seeds(50)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    UdpIncoming incoming;
    const std::uint64_t sent = 200;
    std::vector<std::vector<std::byte>> messages;
    std::vector<std::pair<std::uint64_t, std::uint16_t>> frames;
    for (std::uint64_t number = 0; number < sent; ++number) {
      messages.push_back(pattern(random() % (3 * core::kUdpPartMost), static_cast<std::uint32_t>(number)));
      const std::uint16_t parts = core::udp_parts(static_cast<std::uint32_t>(messages.back().size()));
      for (std::uint16_t part = 0; part < parts; ++part) {
        if (random() % 10 == 0) continue;
        frames.emplace_back(number, part);
        if (random() % 10 == 0) frames.emplace_back(number, part);
      }
    }
    for (std::size_t i = 0; i + 4 < frames.size(); ++i) std::swap(frames[i], frames[i + random() % 4]);
    std::uint64_t complete = 0;
    for (const auto& [number, part] : frames) {
      if (incoming.accept(frame_at(messages[number], number, part)) != UdpAccepted::complete) continue;
      ++complete;
      REQUIRE(incoming.message().size() == messages[number].size());
      REQUIRE(std::equal(messages[number].begin(), messages[number].end(), incoming.message().begin()));
      incoming.count(random() % 5 == 0 ? core::MessageFate::dropped : core::MessageFate::delivered);
    }
    incoming.end_at(sent);
    const core::MessageLaw law = incoming.law();
    CHECK(law.delivered + law.dropped == complete);
    CHECK(law.sum() == sent);
    CHECK(law.lost > 0);
  }
}

}  // namespace margay::nexus::test
