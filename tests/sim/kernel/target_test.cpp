// Tests of the kernel's receiving side: each arrival is deposited, answered, held, or dropped and counted.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "portals/match/match_list.hpp"
#include "portals/memory/block.hpp"
#include "portals/memory/independent_block.hpp"
#include "sim/base/clock.hpp"
#include "sim/kernel/target.hpp"
#include "tests/sim/scripted_wire.hpp"
#include "tests/sim/wire_harness.hpp"

namespace margay::sim::test {
namespace {

constexpr portals::PortalIndex kBodyPortal = 1, kHeaders = 2, kAcknowledging = 3, kGettable = 4, kListed = 5,
                               kUnused = 9;

// Rank 0's target, with a scripted wire to ranks 1 and 2. The observation of its decisions (by a trace, by a log, or
// not at all) must not change them.
struct Receiving {
  explicit Receiving(bool traced = false) {
    if (traced) REQUIRE(recorder.open_memory().ok());
    portals::Options options;
    options.save = portals::Save::body;
    REQUIRE(table.attach(kBodyPortal, bodies, options).ok());
    options.save = portals::Save::header;
    REQUIRE(table.attach(kHeaders, headers, options).ok());
    options.save = portals::Save::body;
    options.acknowledge = true;
    REQUIRE(table.attach(kAcknowledging, acknowledging, options).ok());
    REQUIRE(table.attach(kListed, list).ok());
  }
  // Takes one arrival. Returns the target's result.
  bool take() {
    Arrival arrival;
    REQUIRE(wire.poll(arrival));
    return target.take(wire, arrival);
  }
  [[nodiscard]] static portals::Header put(portals::PortalIndex portal) {
    portals::Header header;
    header.portal = portal;
    return header;
  }
  bool take(std::uint32_t peer, const portals::Header& header, Arrival::Kind kind = Arrival::Kind::whole) {
    wire.bring(peer, ++brought[peer], header, body, kind);
    return take();
  }
  bool take_end(Arrival::Kind kind, void* cookie) {
    wire.bring_end(kind, cookie);
    return take();
  }
  [[nodiscard]] std::uint64_t dropped(std::uint32_t peer, portals::DropReason reason) const {
    return registers.dropped(peer)[static_cast<std::size_t>(reason)];
  }

  VirtualClock clock{1};
  Recorder recorder{clock};
  TransmissionList finished;
  ScriptedWire wire{finished};
  Routes routes{{&wire, &wire, &wire}};
  Registers registers{3};
  portals::PortalTable table;
  portals::ChangedList changed;
  std::array<std::byte, 32> memory{};
  std::vector<std::byte> body = pattern_body(1, 24);
  std::array<std::uint64_t, 3> brought{};  // messages, by peer
  portals::SingleBlock bodies{portals::Buffer{memory.data(), memory.size()}};
  portals::SingleBlock headers{portals::Buffer{}};
  portals::SingleBlock acknowledging{portals::Buffer{memory.data(), memory.size()}};
  portals::MatchList list;
  portals::Delivery delivery{table, changed};
  Initiator initiator{{0, 0}, routes, finished, registers, recorder};
  Answers answers{initiator, delivery, recorder};
  Target target{{0, 0}, delivery, initiator, answers, registers, recorder};
};

TEST_CASE("target: a whole message is deposited and counted for its sender, observed or not") {
  for (const bool traced : {false, true}) {
    CAPTURE(traced);
    Receiving receiving(traced);
    CHECK(receiving.take(2, Receiving::put(kBodyPortal)));
    CHECK_EQ(receiving.wire.consumed, 1);
    CHECK(std::equal(receiving.body.begin(), receiving.body.end(), receiving.memory.begin()));
    CHECK_EQ(receiving.bodies.messages(), 1);
    CHECK_EQ(receiving.registers.delivered(2), 1);
    CHECK_EQ(receiving.registers.delivered(1), 0);
    CHECK(receiving.changed.take() == &receiving.bodies);
    CHECK_EQ(receiving.target.entries_walked(), 1);
    CHECK(receiving.wire.sent.empty());
  }
}

TEST_CASE("target: a plain message for a row of its own has the same result, observed or not") {
  for (const bool traced : {false, true}) {
    CAPTURE(traced);
    Receiving receiving(traced);
    std::array<portals::IndependentBuffer, 1> row;
    row[0].memory = portals::Region(receiving.memory.data(), receiving.memory.size());
    portals::IndependentBlock block(row, portals::Progression::circular);  // as MPI posts a receive
    portals::MatchEntry entry({}, block, {});
    receiving.list.append(entry);
    CHECK(receiving.take(2, Receiving::put(kListed)));
    CHECK_EQ(receiving.wire.consumed, 1);
    CHECK(row[0].state == portals::IndependentBuffer::State::filled);
    CHECK_EQ(row[0].bytes, receiving.body.size());
    CHECK(std::equal(receiving.body.begin(), receiving.body.end(), receiving.memory.begin()));
    CHECK_EQ(receiving.registers.delivered(2), 1);
    CHECK_EQ(receiving.target.entries_walked(), 1);
    CHECK(receiving.changed.take() == &block);
    receiving.list.remove(entry);
  }
}

TEST_CASE("target: if only headers are saved a whole body is skipped, and one in parts is refused") {
  Receiving receiving;
  CHECK(receiving.take(1, Receiving::put(kHeaders)));
  CHECK_EQ(receiving.wire.consumed, 1);
  CHECK(receiving.take(1, Receiving::put(kHeaders), Arrival::Kind::started));
  CHECK_EQ(receiving.wire.refused, 1);
  CHECK(receiving.wire.accepted.empty());
  CHECK_EQ(receiving.headers.messages(), 2);
  CHECK_EQ(receiving.headers.saved_header().length, receiving.body.size());
  CHECK_EQ(receiving.registers.delivered(1), 2);
  CHECK_EQ(receiving.target.incoming(), 0);
}

TEST_CASE("target: an arriving body keeps its place until it is complete, for each peer separately") {
  Receiving receiving;
  receiving.body.resize(16);
  CHECK(receiving.take(1, Receiving::put(kBodyPortal), Arrival::Kind::started));
  CHECK(receiving.take(2, Receiving::put(kBodyPortal), Arrival::Kind::started));
  REQUIRE_EQ(receiving.wire.accepted.size(), 2);
  CHECK_EQ(receiving.wire.accepted[0].single().base, receiving.memory.data());
  CHECK_EQ(receiving.wire.accepted[1].single().base, receiving.memory.data() + 16);
  CHECK_EQ(receiving.wire.accepted[0].bytes(), 16);
  CHECK_EQ(receiving.target.incoming(), 2);
  CHECK_EQ(receiving.bodies.messages(), 0);
  CHECK(receiving.take_end(Arrival::Kind::finished, receiving.wire.cookies[1]));
  CHECK_EQ(receiving.registers.delivered(2), 1);
  CHECK_EQ(receiving.registers.delivered(1), 0);
  CHECK_EQ(receiving.bodies.messages(), 1);
  CHECK(receiving.take_end(Arrival::Kind::finished, receiving.wire.cookies[0]));
  CHECK_EQ(receiving.registers.delivered(1), 1);
  CHECK_EQ(receiving.target.incoming(), 0);
  CHECK_EQ(receiving.bodies.bytes(), 32);
  // Expect: the memory of the first two is used again.
  receiving.bodies.reset_local_offset();
  CHECK(receiving.take(1, Receiving::put(kBodyPortal), Arrival::Kind::started));
  CHECK(receiving.take(2, Receiving::put(kBodyPortal), Arrival::Kind::started));
  CHECK(receiving.wire.cookies[2] == receiving.wire.cookies[0]);
  CHECK(receiving.wire.cookies[3] == receiving.wire.cookies[1]);
}

TEST_CASE("target: an incomplete body returns its room, and the message is dropped") {
  Receiving receiving;
  CHECK(receiving.take(1, Receiving::put(kBodyPortal), Arrival::Kind::started));
  CHECK_EQ(receiving.bodies.local_offset(), 24);
  CHECK(receiving.take_end(Arrival::Kind::cut, receiving.wire.cookies[0]));
  CHECK_EQ(receiving.bodies.local_offset(), 0);
  CHECK_EQ(receiving.bodies.messages(), 0);
  CHECK_EQ(receiving.bodies.reserved_messages(), 0);
  CHECK_EQ(receiving.target.incoming(), 0);
  CHECK_EQ(receiving.registers.delivered(1), 0);
  CHECK_EQ(receiving.dropped(1, portals::DropReason::peer_lost), 1);
  CHECK(receiving.changed.empty());
}

TEST_CASE("target: the part of a long body that fits is accepted, if the entry truncates") {
  Receiving receiving;
  std::array<portals::IndependentBuffer, 2> rows;
  std::array<std::byte, 20> room{};
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row].memory = portals::Region(&room[row * 10], 10);
  portals::IndependentBlock block(rows, portals::Progression::linear);
  portals::Options truncates;
  truncates.truncate = true;
  portals::MatchEntry entry({}, block, truncates);
  receiving.list.append(entry);
  CHECK(receiving.take(1, Receiving::put(kListed)));
  CHECK_EQ(rows[0].bytes, 10);
  CHECK_EQ(rows[0].header.length, receiving.body.size());
  CHECK(std::equal(room.begin(), room.begin() + 10, receiving.body.begin()));
  CHECK(receiving.take(1, Receiving::put(kListed), Arrival::Kind::started));
  REQUIRE_EQ(receiving.wire.accepted.size(), 1);
  CHECK_EQ(receiving.wire.accepted[0].bytes(), 10);
  CHECK(receiving.take_end(Arrival::Kind::finished, receiving.wire.cookies[0]));
  CHECK_EQ(receiving.registers.delivered(1), 2);
  receiving.list.remove(entry);
}

TEST_CASE("target: the initiator is notified of the saved parts after all of the message has arrived") {
  for (const Arrival::Kind kind : {Arrival::Kind::whole, Arrival::Kind::started}) {
    Receiving receiving;
    portals::Header header = Receiving::put(kAcknowledging);
    header.return_portal = 7;
    CHECK(receiving.take(1, header, kind));
    if (kind == Arrival::Kind::started) {
      CHECK(receiving.wire.sent.empty());
      CHECK(receiving.take_end(Arrival::Kind::finished, receiving.wire.cookies[0]));
    }
    REQUIRE_EQ(receiving.wire.sent.size(), 1);
    CHECK(receiving.wire.sent[0].header.kind == portals::Kind::acknowledgment);
    CHECK_EQ(receiving.wire.sent[0].header.portal, 7);
    CHECK_EQ(receiving.wire.sent[0].header.return_length, receiving.body.size());
    CHECK_EQ(answered_sequence(receiving.wire.sent[0].header), 1);
    // Expect: no other initiator is.
    receiving.acknowledging.reset_local_offset();
    CHECK(receiving.take(1, Receiving::put(kAcknowledging)));
    CHECK_EQ(receiving.wire.sent.size(), 1);
  }
}

TEST_CASE("target: a get is counted and answered, or dropped") {
  Receiving receiving;
  portals::SingleBlock readable(portals::Buffer{receiving.memory.data(), 8});
  portals::Options options;
  options.save = portals::Save::body;
  options.direction = portals::Direction::read_only;
  options.offset_by = portals::OffsetBy::sender;
  REQUIRE(receiving.table.attach(kGettable, readable, options).ok());
  receiving.body.clear();
  portals::Header get = Receiving::put(kGettable);
  get.kind = portals::Kind::get;
  get.return_portal = 7;
  get.return_length = 8;
  CHECK(receiving.take(1, get));
  CHECK_EQ(receiving.wire.consumed, 1);
  CHECK_EQ(receiving.registers.delivered(1), 1);
  REQUIRE_EQ(receiving.wire.sent.size(), 1);
  CHECK(receiving.wire.sent[0].header.kind == portals::Kind::reply);
  CHECK_EQ(readable.messages(), 1);
  get.offset = 1;
  CHECK(receiving.take(1, get));
  CHECK_EQ(receiving.wire.consumed, 2);
  CHECK_EQ(receiving.registers.delivered(1), 1);
  CHECK_EQ(receiving.wire.sent.size(), 1);
}

TEST_CASE("target: a message that no entry takes is dropped, counted by reason and sender, whole or in parts") {
  for (const bool traced : {false, true}) {
    for (const Arrival::Kind kind : {Arrival::Kind::whole, Arrival::Kind::started}) {
      Receiving receiving(traced);
      receiving.target.hold_when_no_room(kBodyPortal + 1);  // set for another portal only
      receiving.body.resize(40);
      CHECK(receiving.take(1, Receiving::put(kUnused), kind));
      CHECK(receiving.take(2, Receiving::put(kListed), kind));
      CHECK(receiving.take(2, Receiving::put(kBodyPortal), kind));
      CHECK_EQ(receiving.dropped(1, portals::DropReason::no_such_portal), 1);
      CHECK_EQ(receiving.dropped(2, portals::DropReason::no_match), 1);
      CHECK_EQ(receiving.dropped(2, portals::DropReason::too_small), 1);
      CHECK_EQ(receiving.registers.delivered(1) + receiving.registers.delivered(2), 0);
      CHECK_EQ(kind == Arrival::Kind::whole ? receiving.wire.consumed : receiving.wire.refused, 3);
      CHECK_EQ(receiving.wire.held, 0);
      CHECK_EQ(receiving.target.incoming(), 0);
    }
  }
}

TEST_CASE("target: it keeps the first headers of messages that no entry accepted, and no others") {
  Receiving receiving;
  CHECK(receiving.take(1, Receiving::put(kUnused)));
  for (std::uint64_t i = 0; i < Target::kUnmatchedKept + 5; ++i) {
    portals::Header header = Receiving::put(kListed);
    header.match_bits = i;
    CHECK(receiving.take(1, header));
  }
  const std::vector<portals::Header>& first = receiving.target.first_unmatched();
  REQUIRE_EQ(first.size(), Target::kUnmatchedKept);
  for (std::size_t i = 0; i < first.size(); ++i) CHECK_EQ(first[i].match_bits, i);
}

TEST_CASE("target: a held message changes nothing, is walked once, and is taken when there is room") {
  for (const bool traced : {false, true}) {
    for (const Arrival::Kind kind : {Arrival::Kind::whole, Arrival::Kind::started}) {
      CAPTURE(traced);
      Receiving receiving(traced);
      receiving.target.hold_when_no_room(kBodyPortal);
      CHECK(receiving.take(1, Receiving::put(kUnused)));
      CHECK(receiving.take(1, Receiving::put(kBodyPortal)));
      for (int again = 0; again < 3; ++again) {
        receiving.brought[1] = 2;
        CHECK_FALSE(receiving.take(1, Receiving::put(kBodyPortal), kind));
      }
      CHECK_EQ(receiving.wire.held, 3);
      CHECK(receiving.target.holds(1));
      CHECK_FALSE(receiving.target.holds(2));
      CHECK_EQ(receiving.target.entries_walked(), 2);
      CHECK_EQ(receiving.registers.delivered(1), 1);
      CHECK_EQ(receiving.dropped(1, portals::DropReason::too_small), 0);
      CHECK_EQ(receiving.target.take_longest_hold(kBodyPortal), 2);
      CHECK_EQ(receiving.target.take_longest_hold(kBodyPortal), 0);
      CHECK_EQ(receiving.target.take_longest_hold(kBodyPortal + 1), 0);
      receiving.bodies.reset_local_offset();
      receiving.brought[1] = 2;
      CHECK(receiving.take(1, Receiving::put(kBodyPortal), kind));
      if (kind == Arrival::Kind::started) {
        CHECK(receiving.take_end(Arrival::Kind::finished, receiving.wire.cookies[0]));
      }
      CHECK_EQ(receiving.registers.delivered(1), 2);
      CHECK_FALSE(receiving.target.holds(1));
    }
  }
}

}  // namespace
}  // namespace margay::sim::test
