// Tests of the kernel's sending side over a scripted wire: the messages that reach the wire, their numbers, and the
// counters.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "sim/base/clock.hpp"
#include "sim/kernel/initiator.hpp"
#include "tests/sim/scripted_wire.hpp"

namespace margay::sim::test {
namespace {

constexpr std::uint32_t kFar = 0, kNear = 1, kMe = 2, kRanks = 3;
constexpr std::size_t kBodyBytes = 24;

// Rank 2, which reaches rank 1 by one wire and rank 0 by another.
struct Sender {
  [[nodiscard]] static portals::Header put(std::uint32_t peer, std::uint64_t bytes) {
    portals::Header header;
    header.destination = {0, peer};
    header.length = bytes;
    header.match_bits = 0x77;
    return header;
  }
  [[nodiscard]] portals::Region body(std::uint64_t bytes) { return portals::Region(memory.data(), bytes); }
  [[nodiscard]] bool try_put(std::uint32_t peer, std::uint64_t bytes = kBodyBytes) {
    return initiator.try_send(put(peer, bytes), body(bytes));
  }
  void queue(Transmission& transmission, std::uint32_t peer = kNear, std::uint64_t bytes = kBodyBytes) {
    transmission.header = put(peer, bytes);
    transmission.body = body(bytes);
    initiator.send(transmission);
  }
  [[nodiscard]] const WireCounts& puts() const { return initiator.counts(portals::Kind::put); }

  VirtualClock clock{100};
  Recorder recorder{clock};
  TransmissionList finished;
  ScriptedWire near{finished, WireId::shm};
  ScriptedWire far{finished, WireId::tcp};
  Routes routes{{&far, &near, &near}};
  Registers registers{kRanks};
  Initiator initiator{{5, kMe}, routes, finished, registers, recorder};
  std::array<std::byte, kBodyBytes> memory{std::byte{1}, std::byte{2}, std::byte{3}};
};

TEST_CASE("initiator: a message that its wire takes at once is counted by peer and kind and wire") {
  Sender sender;
  REQUIRE(sender.try_put(kNear));
  REQUIRE(sender.try_put(kFar, 0));
  REQUIRE_EQ(sender.near.sent.size(), 1);
  CHECK_EQ(sender.near.sent[0].peer, kNear);
  CHECK_EQ(sender.near.sent[0].header, Sender::put(kNear, kBodyBytes));
  CHECK(sender.near.sent[0].body == std::vector<std::byte>(sender.memory.begin(), sender.memory.end()));
  REQUIRE_EQ(sender.far.sent.size(), 1);
  CHECK(sender.far.sent[0].body.empty());
  CHECK_EQ(sender.registers.sent(kNear), 1);
  CHECK_EQ(sender.registers.sent(kFar), 1);
  CHECK_EQ(sender.puts().messages, 2);
  CHECK_EQ(sender.puts().bytes, kBodyBytes);
  CHECK_EQ(sender.initiator.counts(WireId::shm).messages, 1);
  CHECK_EQ(sender.initiator.counts(WireId::shm).bytes, kBodyBytes);
  CHECK_EQ(sender.initiator.counts(WireId::tcp).messages, 1);
  CHECK_EQ(sender.initiator.counts(WireId::tcp).bytes, 0);
  CHECK_EQ(sender.registers.unfinished().transmissions, 0);
}

TEST_CASE("initiator: a send over a full wire changes nothing") {
  Sender sender;
  sender.near.full = true;
  CHECK_FALSE(sender.try_put(kNear));
  CHECK_EQ(sender.near.tries, 1);
  CHECK_EQ(sender.registers.sent(kNear), 0);
  CHECK_EQ(sender.puts().messages, 0);
  CHECK_EQ(sender.initiator.next_sequence(kNear), 1);
}

TEST_CASE("initiator: messages are numbered in each pair, over any wire") {
  Sender sender;
  std::array<Transmission, 2> queued;
  REQUIRE(sender.try_put(kNear));
  sender.queue(queued[0]);
  CHECK_EQ(sender.initiator.next_sequence(kNear), 3);
  REQUIRE(sender.try_put(kNear));
  sender.queue(queued[1], kFar);
  CHECK_EQ(queued[0].sequence, 2);
  CHECK_EQ(queued[1].sequence, 1);
  CHECK_EQ(sender.initiator.next_sequence(kNear), 4);
  CHECK_EQ(sender.initiator.next_sequence(kFar), 2);
}

TEST_CASE("initiator: a transmission and its source belong to the wire until it is returned") {
  Sender sender;
  Transmission used;
  used.stop_asked = used.given_back = true;  // as left by its last use
  used.state = Transmission::State::stopped;
  sender.queue(used);
  CHECK(sender.near.queue == std::deque<Transmission*>{&used});
  CHECK_EQ(used.header.source, portals::ProcessId{5, kMe});
  CHECK(used.state == Transmission::State::queued);
  CHECK_FALSE(used.stop_asked);
  CHECK_FALSE(used.given_back);
  CHECK_EQ(sender.registers.unfinished().transmissions, 1);
  CHECK_EQ(sender.puts().bytes, kBodyBytes);
  CHECK(sender.finished.empty());
  sender.initiator.gave_back();
  CHECK_EQ(sender.registers.unfinished().transmissions, 0);
}

TEST_CASE("initiator: no message is sent to an unreachable rank, and none is counted") {
  Sender sender;
  sender.initiator.mark_unreachable(kNear, "connection reset", false);
  CHECK_FALSE(sender.try_put(kNear));
  Transmission queued;
  sender.queue(queued);
  CHECK_EQ(sender.near.tries, 0);
  CHECK(sender.near.queue.empty());
  CHECK_EQ(sender.registers.sent(kNear), 0);
  CHECK_EQ(sender.puts().messages, 0);
  // Expect: it is finished at once, and reported like any other.
  CHECK(queued.state == Transmission::State::failed);
  CHECK_EQ(sender.registers.unfinished().transmissions, 1);
  CHECK(sender.finished.pop() == &queued);
  CHECK(sender.try_put(kFar));
}

TEST_CASE("initiator: a rank that left is unreachable but not lost, and each is counted once with its reason") {
  Sender sender;
  CHECK_FALSE(sender.initiator.is_unreachable(kNear));
  CHECK(sender.initiator.loss(kNear).empty());
  sender.initiator.mark_unreachable(kNear, "its process ended", true);
  CHECK(sender.initiator.is_unreachable(kNear));
  CHECK_FALSE(sender.initiator.is_lost(kNear));
  CHECK_FALSE(sender.initiator.is_unreachable(kFar));
  CHECK_FALSE(sender.initiator.is_lost(kFar));
  CHECK_EQ(sender.initiator.loss(kNear), "its process ended");
  CHECK_EQ(sender.initiator.losses(), 1);
  sender.initiator.mark_unreachable(kNear, "its process ended", true);
  CHECK_EQ(sender.initiator.losses(), 1);
  sender.initiator.mark_unreachable(kFar, "", false);
  CHECK(sender.initiator.is_lost(kFar));
  CHECK_EQ(sender.initiator.loss(kFar), "lost");
  CHECK_EQ(sender.initiator.losses(), 2);
}

TEST_CASE("initiator: only a queued transmission can be stopped") {
  Sender sender;
  Transmission transmission;
  sender.initiator.stop(transmission);
  CHECK(sender.near.stopped.empty());
  sender.queue(transmission);
  sender.initiator.stop(transmission);
  CHECK(sender.near.stopped == std::vector<Transmission*>{&transmission});
  sender.near.end(Transmission::State::stopped);
  sender.initiator.stop(transmission);
  CHECK_EQ(sender.near.stopped.size(), 1);
}

TEST_CASE("initiator: a replacement takes a transmission's number, and the original's bytes were never sent") {
  Sender sender;
  Transmission taken_back, instead;
  sender.queue(taken_back);
  instead.header = Sender::put(kNear, 0);
  instead.stop_asked = instead.given_back = true;
  REQUIRE(sender.initiator.replace(taken_back, instead));
  CHECK(sender.near.queue == std::deque<Transmission*>{&instead});
  CHECK(instead.state == Transmission::State::queued);
  CHECK_EQ(instead.sequence, 1);
  CHECK_EQ(instead.header.source, portals::ProcessId{5, kMe});
  CHECK_FALSE(instead.stop_asked);
  CHECK_FALSE(instead.given_back);
  CHECK(taken_back.state == Transmission::State::idle);
  CHECK(taken_back.given_back);
  CHECK_EQ(sender.registers.unfinished().transmissions, 1);
  CHECK_EQ(sender.registers.sent(kNear), 1);
  CHECK_EQ(sender.puts().messages, 1);
  CHECK_EQ(sender.puts().bytes, 0);
  CHECK_EQ(sender.initiator.counts(WireId::shm).bytes, 0);
}

TEST_CASE("initiator: if it is too late to withdraw a transmission nothing changes") {
  Sender sender;
  Transmission transmission, instead;
  instead.header = Sender::put(kNear, 0);
  sender.queue(transmission);
  sender.near.too_late = true;
  CHECK_FALSE(sender.initiator.replace(transmission, instead));
  CHECK(transmission.state == Transmission::State::queued);
  CHECK_FALSE(transmission.given_back);
  CHECK(instead.state == Transmission::State::idle);
  CHECK_EQ(sender.puts().bytes, kBodyBytes);
  // Expect: the wire is not asked about a finished transmission.
  sender.near.too_late = false;
  sender.near.end(Transmission::State::sent);
  sender.near.queue.push_back(&transmission);
  CHECK_FALSE(sender.initiator.replace(transmission, instead));
  CHECK(transmission.state == Transmission::State::sent);
}

// Formats the recorded events: "kernel_send 2>1 #1 24 ...".
std::string reported(const Recorder& recorder) {
  std::string text;
  for (const TraceEvent& event : recorder.events()) {
    text += std::string(name(event.kind)) + " " + std::to_string(event.source) + ">" +
            std::to_string(event.destination) + " #" + std::to_string(event.sequence) + " " +
            std::to_string(event.bytes) + " wire " + std::to_string(event.wire) + ", ";
  }
  return text;
}

TEST_CASE("initiator: a trace records departures, stops and withdrawals; the answering side records answers") {
  Sender sender;
  REQUIRE(sender.recorder.open_memory().ok());
  REQUIRE(sender.try_put(kFar));
  for (const portals::Kind answer : {portals::Kind::acknowledgment, portals::Kind::reply}) {
    portals::Header header = Sender::put(kNear, 0);
    header.kind = answer;
    REQUIRE(sender.initiator.try_send(header, {}));
  }
  Transmission stopped, taken_back, instead;
  instead.header = Sender::put(kNear, 0);
  sender.queue(stopped);
  sender.initiator.stop(stopped);
  sender.queue(taken_back);
  REQUIRE(sender.initiator.replace(taken_back, instead));
  CHECK_EQ(reported(sender.recorder),
           "kernel_send 2>0 #1 24 wire 2, kernel_send 2>1 #3 24 wire 1, stop 2>1 #3 24 wire 255, "
           "kernel_send 2>1 #4 24 wire 1, take_back 2>1 #4 24 wire 1, ");
}

TEST_CASE("initiator: a departure has the time before the wire took the message") {
  Sender sender;
  REQUIRE(sender.recorder.open_memory().ok());
  const std::uint64_t before = sender.clock.now_ns();
  sender.near.taking = [&sender] { sender.clock.advance_ns(50); };  // meanwhile the receiver may have it
  REQUIRE(sender.try_put(kNear));
  const std::vector<TraceEvent> events = sender.recorder.events();
  REQUIRE_EQ(events.size(), 1);
  CHECK_EQ(events[0].time, before);
}

}  // namespace
}  // namespace margay::sim::test
