// Tests of the kernel's progress round over scripted wires: the polled wires, the number of messages taken from each,
// and the program's results.
#include <doctest/doctest.h>

#include <array>
#include <vector>

#include "portals/memory/block.hpp"
#include "sim/base/clock.hpp"
#include "sim/kernel/kernel.hpp"
#include "tests/sim/scripted_wire.hpp"

namespace margay::sim::test {
namespace {

constexpr portals::PortalIndex kPutPortal = 2, kGetPortal = 3, kHeldPortal = 4;
constexpr int kSlowRounds = 8;  // the kernel polls a slow wire once in so many rounds
constexpr std::uint32_t kOwnerTest = kOwnerKernel + 1;

// Rank 0, with ranks 1 and 2 in its node and rank 3 in another one; or alone in its node.
struct Played {
  explicit Played(bool shares_node = true)
      : kernel({0, 0},
               shares_node ? std::vector<Wire*>{&self, &shm, &shm, &tcp} : std::vector<Wire*>{&self, &tcp, &tcp, &tcp},
               finished, recorder) {
    portals::Options options;
    options.save = portals::Save::body;
    options.offset_by = portals::OffsetBy::sender;
    REQUIRE(kernel.table().attach(kPutPortal, block, options).ok());
    options.direction = portals::Direction::read_only;
    REQUIRE(kernel.table().attach(kGetPortal, readable, options).ok());
    // Hints that a test does not set must not be counted.
    for (ScriptedWire* const wire : {&self, &shm, &tcp}) wire->hint(false, false);
  }
  void bring(ScriptedWire& wire, std::uint32_t peer, portals::PortalIndex portal = kPutPortal,
             portals::Kind kind = portals::Kind::put) {
    portals::Header header;
    header.kind = kind;
    header.portal = portal;
    header.return_portal = kind == portals::Kind::get ? kPutPortal : portals::kNoPortal;
    header.return_length = kind == portals::Kind::get ? 8 : 0;
    wire.bring(peer, ++brought[peer], header, nothing);
  }
  void queue(Transmission& transmission, std::uint32_t peer, std::uint32_t owner_tag_kind = kOwnerTest) {
    transmission.header.destination = {0, peer};
    transmission.owner_tag_kind = owner_tag_kind;
    kernel.send(transmission);
  }

  VirtualClock clock{1};
  Recorder recorder{clock};
  TransmissionList finished;
  ScriptedWire self{finished, WireId::self};
  ScriptedWire shm{finished, WireId::shm};
  ScriptedWire tcp{finished, WireId::tcp};
  std::vector<std::byte> nothing;
  std::array<std::uint64_t, 4> brought{};  // messages, by peer
  std::array<std::byte, 32> memory{};
  portals::SingleBlock block{portals::Buffer{memory.data(), memory.size()}};
  portals::SingleBlock readable{portals::Buffer{memory.data(), memory.size()}};
  Kernel kernel;
};

TEST_CASE("kernel: it lists each wire once, fastest first, and each rank has a wire") {
  Played played;
  REQUIRE_EQ(played.kernel.wires().size(), 3);
  CHECK(played.kernel.wires()[0] == &played.self);
  CHECK(played.kernel.wires()[1] == &played.shm);
  CHECK(played.kernel.wires()[2] == &played.tcp);
  CHECK(&played.kernel.route(2) == &played.shm);
  CHECK(&played.kernel.route(3) == &played.tcp);
  CHECK_EQ(played.kernel.ranks(), 4);
  CHECK_EQ(played.kernel.me(), portals::ProcessId{0, 0});
}

TEST_CASE("kernel: a round takes a few messages of each wire, so that a flood on one starves no other") {
  Played played;
  for (int i = 0; i < 10; ++i) played.bring(played.shm, 1);
  played.bring(played.tcp, 3);
  int after = 0;
  CHECK(played.kernel.progress(3, [&after] { ++after; }));
  CHECK_EQ(played.shm.consumed, 3);
  CHECK_EQ(played.tcp.consumed, 1);
  CHECK_EQ(after, 4);
  CHECK_EQ(played.block.messages(), 4);
  CHECK(played.kernel.progress());
  CHECK_EQ(played.shm.consumed, 3 + Kernel::kArrivalsPerRound);
  while (played.kernel.progress()) {
  }
  CHECK_EQ(played.block.messages(), 11);
  CHECK_EQ(played.kernel.registers().delivered(1), 10);
}

TEST_CASE("kernel: the caller sees the effect of a message before the next one is taken") {
  Played played;
  for (int i = 0; i < 3; ++i) played.bring(played.shm, 1);
  std::vector<std::uint64_t> seen;
  CHECK(played.kernel.progress(4, [&] {
    CHECK(played.kernel.changed().take() == &played.block);
    seen.push_back(played.block.messages());
  }));
  CHECK(seen == std::vector<std::uint64_t>{1, 2, 3});
}

TEST_CASE("kernel: a round without arrivals and without continued sends makes no progress") {
  Played played;
  CHECK_FALSE(played.kernel.progress());
  played.shm.push_moves = true;
  CHECK_FALSE(played.kernel.progress());  // it does not request a push
  CHECK_EQ(played.shm.pushes, 0);
  played.shm.hint(false, true);
  CHECK(played.kernel.progress());
  CHECK_EQ(played.shm.pushes, 1);
  played.shm.push_moves = false;
  CHECK_FALSE(played.kernel.progress());
}

TEST_CASE("kernel: a wire without a hint is not polled, though a message is there") {
  Played played;
  played.shm.hint(true, true);
  played.bring(played.shm, 1);
  CHECK_FALSE(played.kernel.progress());
  CHECK_EQ(played.shm.polls, 0);
  CHECK_EQ(played.shm.pushes, 0);
  played.shm.hint(false, false);
  CHECK(played.kernel.progress());
}

TEST_CASE("kernel: a held message is no progress, and arrives again") {
  Played played;
  portals::SingleBlock nothing(portals::Buffer{});
  REQUIRE(played.kernel.table().attach(kHeldPortal, nothing, {}).ok());
  played.kernel.target().hold_when_no_room(kHeldPortal);
  std::vector<std::byte> body(4);
  portals::Header header;
  header.portal = kHeldPortal;
  played.shm.bring(1, 1, header, body);
  int after = 0;
  CHECK_FALSE(played.kernel.progress(4, [&after] { ++after; }));
  CHECK_EQ(played.shm.held, 1);
  CHECK_EQ(after, 1);
  CHECK(played.kernel.target().holds(1));
  CHECK_FALSE(played.kernel.target().holds(2));
}

TEST_CASE("kernel: beside shared memory an idle network is polled once in eight rounds, a busy one in each") {
  Played played;
  const auto rounds = [&played](int count) {
    const int before = played.tcp.polls;
    for (int round = 0; round < count; ++round) (void)played.kernel.progress();
    return played.tcp.polls - before;
  };
  CHECK_EQ(rounds(10 * kSlowRounds), 10);
  CHECK_EQ(played.shm.polls, 10 * kSlowRounds);
  // Stimulus: a message is found there.
  played.bring(played.tcp, 3);
  for (int round = 0; round < kSlowRounds && played.tcp.consumed == 0; ++round) (void)played.kernel.progress();
  REQUIRE_EQ(played.tcp.consumed, 1);
  CHECK_EQ(rounds(1), 1);
  CHECK_EQ(rounds(kSlowRounds - 1), 0);
  // A part of a body counts too.
  played.tcp.bring_part();
  CHECK_EQ(rounds(1), 1);
  CHECK_EQ(rounds(1), 1);
  CHECK_EQ(rounds(kSlowRounds - 1), 0);
  // So does time in which other programs had the processor.
  CHECK_EQ(rounds(1), 1);
  played.kernel.time_passed();
  CHECK_EQ(rounds(1), 1);
  CHECK_EQ(played.tcp.times_passed, 1);
  CHECK_EQ(played.shm.times_passed, 1);
}

TEST_CASE("kernel: without shared memory the network is polled in each round") {
  Played played(false);
  for (int round = 0; round < 20; ++round) CHECK_FALSE(played.kernel.progress());
  CHECK_EQ(played.tcp.polls, 20);
}

TEST_CASE("kernel: a part of a body is reported once, and is no progress") {
  Played played;
  CHECK_FALSE(played.kernel.take_body_moved());
  played.shm.bring_part();
  CHECK_FALSE(played.kernel.progress());
  CHECK_FALSE(played.kernel.progress());  // the report outlasts a round without a part
  CHECK(played.kernel.take_body_moved());
  CHECK_FALSE(played.kernel.take_body_moved());
}

TEST_CASE("kernel: finished transmissions are returned in order, except the kernel's own") {
  Played played;
  std::array<Transmission, 2> own;
  played.queue(own[0], 1);
  played.shm.full = true;
  played.bring(played.shm, 1, kGetPortal, portals::Kind::get);
  REQUIRE(played.kernel.progress());
  played.queue(own[1], 1);
  REQUIRE_EQ(played.shm.queue.size(), 3);  // the reply is between the two
  CHECK(played.kernel.next_finished() == nullptr);
  CHECK_FALSE(played.kernel.idle());
  for (int i = 0; i < 3; ++i) played.shm.end(Transmission::State::sent);
  CHECK_FALSE(played.kernel.idle());  // the end of the reply has not been processed
  CHECK(played.kernel.unfinished());
  CHECK(played.kernel.next_finished() == &own[0]);
  CHECK(own[0].given_back);
  CHECK_FALSE(own[1].given_back);
  CHECK_EQ(played.readable.messages(), 0);
  CHECK(played.kernel.next_finished() == &own[1]);
  CHECK_EQ(played.readable.messages(), 1);
  CHECK(played.kernel.next_finished() == nullptr);
  CHECK(played.kernel.idle());
  CHECK_FALSE(played.kernel.unfinished());
}

TEST_CASE("kernel: it is not idle while a wire has a queued message or a body is arriving") {
  Played played;
  CHECK(played.kernel.idle());
  Transmission out;
  played.queue(out, 3);
  CHECK_FALSE(played.kernel.idle());
  played.tcp.end(Transmission::State::sent);
  CHECK(played.kernel.next_finished() == &out);
  CHECK(played.kernel.idle());
  std::vector<std::byte> body(8);
  portals::Header header;
  header.portal = kPutPortal;
  played.shm.bring(1, 1, header, body, Arrival::Kind::started);
  CHECK(played.kernel.progress());
  REQUIRE_EQ(played.shm.accepted.size(), 1);
  CHECK_FALSE(played.kernel.idle());
  CHECK_EQ(played.block.messages(), 0);
  played.shm.bring_end(Arrival::Kind::finished, played.shm.cookies[0]);
  CHECK(played.kernel.progress());
  CHECK(played.kernel.idle());
  CHECK_EQ(played.block.messages(), 1);
}

TEST_CASE("kernel: by their wires it wakes peers that owe an answer and receivers of queued messages") {
  Played played;
  CHECK_FALSE(played.kernel.nudge());
  played.kernel.expect_answer(2);
  played.kernel.expect_answer(2);
  played.kernel.expect_answer(3);
  CHECK(played.kernel.unfinished());
  CHECK(played.kernel.nudge());
  CHECK(played.shm.nudged == std::vector<std::uint32_t>{2});
  CHECK(played.tcp.nudged == std::vector<std::uint32_t>{3});
  CHECK_EQ(played.shm.nudged_queued, 0);
  played.kernel.count_answer(2);
  played.kernel.count_answer(3);
  CHECK(played.kernel.nudge());
  CHECK_EQ(played.shm.nudged.size(), 2);  // one answer is still owed
  CHECK_EQ(played.tcp.nudged.size(), 1);
  played.kernel.count_answer(2);
  CHECK_FALSE(played.kernel.nudge());
  CHECK_FALSE(played.kernel.unfinished());
  Transmission out;
  played.queue(out, 3);
  CHECK(played.kernel.unfinished());
  CHECK(played.kernel.nudge());
  CHECK_EQ(played.tcp.nudged_queued, 1);
  CHECK_EQ(played.shm.nudged_queued, 0);
  played.tcp.end(Transmission::State::sent);
  CHECK(played.kernel.next_finished() == &out);
}

TEST_CASE("kernel: wires are notified when the owner goes and returns, and of idle rounds if they request pushes") {
  Played played;
  played.shm.hint(false, true);
  played.kernel.idle_round();
  CHECK_EQ(played.shm.idle_rounds, 1);
  CHECK_EQ(played.tcp.idle_rounds, 0);
  played.kernel.owner_away(true);
  played.kernel.owner_away(false);
  for (const ScriptedWire* const wire : {&played.self, &played.shm, &played.tcp}) {
    CHECK(wire->away == std::vector<bool>{true, false});
  }
}

TEST_CASE("kernel: in_transit() and bodies_read_on() cover all wires") {
  Played played;
  CHECK_FALSE(played.kernel.in_transit());
  played.tcp.in_transit_now = true;
  CHECK(played.kernel.in_transit());
  played.self.read_on = 1;
  played.shm.read_on = 20;
  played.tcp.read_on = 300;
  CHECK_EQ(played.kernel.bodies_read_on(), 321);
}

TEST_CASE("kernel: only the owner's rounds count in the length of a hold") {
  Played played;
  portals::SingleBlock nothing(portals::Buffer{});
  REQUIRE(played.kernel.table().attach(kHeldPortal, nothing, {}).ok());
  played.kernel.target().hold_when_no_room(kHeldPortal);
  std::vector<std::byte> body(4);
  portals::Header header;
  header.portal = kHeldPortal;
  const auto seen_again = [&](int times) {
    for (int i = 0; i < times; ++i) {
      played.shm.bring(1, 1, header, body);
      (void)played.kernel.progress();
    }
  };
  seen_again(4);
  CHECK_EQ(played.kernel.target().take_longest_hold(kHeldPortal), 3);
  played.kernel.owner_away(true);
  seen_again(5);
  played.kernel.owner_away(false);
  seen_again(1);
  CHECK_EQ(played.kernel.target().take_longest_hold(kHeldPortal), 4);
}

TEST_CASE("kernel: a lost peer is unreachable and lost, one that had left is only unreachable") {
  Played played;
  played.shm.bring_loss(Arrival::Kind::lost, 1, "it crashed");
  played.tcp.bring_loss(Arrival::Kind::left, 3, "it ended");
  CHECK(played.kernel.progress());
  CHECK(played.kernel.initiator().is_unreachable(1));
  CHECK(played.kernel.initiator().is_lost(1));
  CHECK_EQ(played.kernel.initiator().loss(1), "it crashed");
  CHECK(played.kernel.initiator().is_unreachable(3));
  CHECK_FALSE(played.kernel.initiator().is_lost(3));
  CHECK_FALSE(played.kernel.initiator().is_unreachable(2));
  CHECK_EQ(played.kernel.initiator().losses(), 2);
}

TEST_CASE("kernel: a trace records the copied part of a body, unless the transfer failed") {
  Played played;
  REQUIRE(played.recorder.open_memory().ok());
  std::array<Transmission, 3> out;
  for (Transmission& transmission : out) played.queue(transmission, 3);
  played.recorder.clear();
  out[0].method = out[1].method = TraceBody::epoll;
  out[0].copied_bytes = 0;
  out[1].copied_bytes = 7;
  played.tcp.end(Transmission::State::sent);
  played.tcp.end(Transmission::State::stopped);
  played.tcp.end(Transmission::State::failed);
  for (Transmission& transmission : out) CHECK(played.kernel.next_finished() == &transmission);
  const std::vector<TraceEvent> events = played.recorder.events();
  REQUIRE_EQ(events.size(), 2);
  for (const TraceEvent& event : events) {
    CHECK(event.kind == TraceKind::kernel_sent);
    CHECK(body_method(event.reason) == TraceBody::epoll);
  }
  CHECK_EQ(events[0].detail, 0);
  CHECK_EQ(events[1].detail, 7);
  CHECK_EQ(events[0].sequence, 1);
  CHECK_EQ(events[0].destination, 3);
  CHECK_EQ(events[0].wire, static_cast<std::uint8_t>(WireId::tcp));
}

}  // namespace
TEST_CASE("kernel: a wire that is added later is polled, and the loss of a former peer does not outlive it") {
  Played played;
  ScriptedWire guests{played.finished, WireId::guest};
  played.kernel.add_wire(guests);
  REQUIRE_EQ(played.kernel.wires().size(), 4);
  CHECK(played.kernel.wires()[3] == &guests);
  Initiator& initiator = played.kernel.initiator();
  initiator.mark_unreachable(2, "reset", false);
  CHECK(initiator.is_lost(2));
  played.kernel.set_route(2, guests);
  CHECK(!initiator.is_lost(2));
  CHECK_EQ(initiator.losses(), 1);
  CHECK(&played.kernel.route(2) == &guests);
  played.bring(guests, 2);
  for (int round = 0; round < 100; ++round) static_cast<void>(played.kernel.progress());
  CHECK_EQ(played.block.messages(), 1);
  // The next loss at this place is a new one.
  initiator.mark_unreachable(2, "reset", false);
  CHECK_EQ(initiator.losses(), 2);
}

}  // namespace margay::sim::test
