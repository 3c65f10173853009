// Tests of the forwarding wire: the wire contract over two hops and three, order and bounds with many seeds, a full
// window, and the farewell.
#include "sim/kernel/forward_wire.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/sim/forward_set.hpp"
#include "tests/sim/wire_contract.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

TEST_CASE("wire contract: forward") {
  run_wire_contract([](std::uint32_t ranks) { return std::make_unique<ForwardSet>(ranks, 1, 3); });
}

std::uint64_t random_bytes(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return 0;
    case 1:
      return random() % 100;
    case 2:
      return random() % (2 * kForwardPieceBytes);
    default:
      return random() % (20 * kForwardPieceBytes);
  }
}

// The end of all ranks, in a random order and while credits are under way. A rank that has ended takes nothing more,
// and even so no hop is left.
void end_all(ForwardSet& set, std::mt19937_64& random) {
  std::vector<std::uint32_t> open(set.size());
  std::iota(open.begin(), open.end(), 0U);
  std::shuffle(open.begin(), open.end(), random);
  std::vector<std::uint32_t> closing;
  for (int turns = 0; !open.empty() || !closing.empty(); ++turns) {
    REQUIRE(turns < 100'000);
    if (!open.empty() && random() % 2 == 0) {
      closing.push_back(open.back());
      open.pop_back();
      set.wire(closing.back()).close();
    }
    for (const std::uint32_t rank : closing) static_cast<void>(set.wire(rank).push());
    std::erase_if(closing, [&](std::uint32_t rank) {
      const bool ends = set.kernel(rank).idle() && set.wire(rank).idle();
      if (ends) set.set_computing(rank, true);
      return ends;
    });
    set.turn();
  }
  set.settle();
  set.check_accounts();
}

// Random messages between all ranks of random nodes, forwarders included. Receivers hold some, so that windows fill.
void check_seed(std::uint64_t seed) {
  CAPTURE(seed);
  std::mt19937_64 random(seed);
  const std::uint32_t nodes = 2 + static_cast<std::uint32_t>(random() % 2);
  const std::uint32_t others = 1 + static_cast<std::uint32_t>(random() % 2);
  const std::uint32_t size = nodes * (others + 1);
  Rig rig([&](std::uint32_t) { return std::make_unique<ForwardSet>(nodes, others, seed); }, size);
  auto& set = static_cast<ForwardSet&>(rig.set());
  std::vector<std::vector<std::uint64_t>> sizes(std::size_t{size} * size);
  std::vector<std::size_t> expected(size);
  for (int message = 0; message < 60; ++message) {
    const auto from = static_cast<std::uint32_t>(random() % size);
    const auto to = static_cast<std::uint32_t>(random() % size);
    if (!set.hops(from).paths().forwarded(from, to)) continue;
    auto& pair = sizes[from * size + to];
    pair.push_back(random_bytes(random));
    const std::uint64_t number = pair.size() * 1000 + from;
    rig[from].send(to, numbered(number), pattern_body(number, pair.back()));
    ++expected[to];
  }
  for (std::uint32_t rank = 0; rank < size; ++rank) {
    rig[rank].answer = [&](const Arrival&) {
      return random() % 4 == 0 ? Endpoint::Answer::hold : Endpoint::Answer::take;
    };
  }
  REQUIRE(rig.until([&] {
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      if (rig[rank].received.size() != expected[rank]) return false;
      for (const Received& got : rig[rank].received) {
        if (got.state != Received::State::complete) return false;
      }
    }
    return rig.all_idle();
  }));
  for (std::uint32_t to = 0; to < size; ++to) {
    std::vector<std::uint64_t> next(size);
    for (const Received& got : rig[to].received) {
      const std::uint64_t number = ++next[got.peer];
      REQUIRE_EQ(got.sequence, number);
      REQUIRE(got.state == Received::State::complete);
      REQUIRE(body_is(got, number * 1000 + got.peer, sizes[got.peer * size + to][number - 1]));
    }
    CHECK_LE(set.hops(to).most_queued(), std::size_t{kForwardWindow} * size * size);
  }
  CHECK(set.reports().empty());
  end_all(set, random);
}

TEST_CASE("forward wires: with many seeds nothing is lost, doubled or overtaken, and the farewell ends") {
  for (const std::uint64_t seed : testing::Seeds(1000)) check_seed(seed);
}

TEST_CASE("forward wires: a receiver that takes nothing stops its sender after a window, and nobody else") {
  Rig rig([](std::uint32_t) { return std::make_unique<ForwardSet>(2, 2, 5); }, 4);
  auto& set = static_cast<ForwardSet&>(rig.set());
  REQUIRE(set.hops(0).paths().forwarded(0, 1));
  for (std::uint64_t i = 1; i <= 200; ++i) rig[0].send(1, numbered(i), pattern_body(i, 100));
  rig.drive_without(1);
  CHECK_EQ(set.wire(1).most_waiting(), kForwardWindow);
  CHECK_EQ(set.relay(set.forwarder(0)).passed(), kForwardWindow);
  CHECK_EQ(set.relay(set.forwarder(1)).passed(), kForwardWindow);
  CHECK_EQ(set.hops(set.forwarder(0)).queued(), 0);
  CHECK_FALSE(set.wire(0).idle());
  // Another flow by the same forwarders passes.
  rig[0].send(3, numbered(1), pattern_body(1, 300'000));
  for (int turns = 0; turns < 5000 && rig[3].received.empty(); ++turns) rig.drive_without(1, 1);
  REQUIRE_EQ(rig[3].received.size(), 1);
  REQUIRE(rig.until([&] { return rig[1].received.size() == 200 && rig.all_idle(); }));
  CHECK_LE(set.wire(1).most_waiting(), kForwardWindow);
  set.settle();
  set.check_accounts();
}

TEST_CASE("forward wires: a forwarder parts last, and a rank that sends again revokes its farewell") {
  Rig rig([](std::uint32_t) { return std::make_unique<ForwardSet>(2, 1, 7); }, 4);
  auto& set = static_cast<ForwardSet&>(rig.set());
  const std::uint32_t forwarder = set.forwarder(0);
  for (std::uint64_t i = 1; i <= 40; ++i) rig[1].send(0, numbered(i), pattern_body(i, 100));
  REQUIRE(rig.until([&] { return rig[0].received.size() == 40; }));
  set.wire(forwarder).close();
  rig.drive_without(4);
  CHECK(set.wire(forwarder).serves_node());
  CHECK(set.wire(forwarder).forwards_for_others());
  CHECK_FALSE(set.wire(forwarder).node_has_parted());
  CHECK_FALSE(set.wire(forwarder).idle());
  set.wire(0).close();
  REQUIRE(rig.until([&] { return set.wire(0).idle(); }));
  rig.drive_without(4);
  CHECK_FALSE(set.wire(forwarder).serves_node());
  CHECK(set.wire(forwarder).node_has_parted());
  CHECK_FALSE(set.wire(0).forwards_for_others());
  // More messages than a window: the credits of the time after the farewell must not be lost.
  set.wire(0).resume();
  for (std::uint64_t i = 1; i <= 50; ++i) rig[0].send(1, numbered(i), pattern_body(i, 100));
  for (std::uint64_t i = 41; i <= 90; ++i) rig[1].send(0, numbered(i), pattern_body(i, 100));
  REQUIRE(rig.until([&] { return rig[1].received.size() == 50 && rig[0].received.size() == 90; }));
  for (const std::uint32_t rank : {0U, 1U, set.forwarder(0), set.forwarder(1)}) set.wire(rank).close();
  REQUIRE(rig.until([&] { return rig.all_idle(); }));
  set.settle();
  set.check_accounts();
  CHECK(set.reports().empty());
}

// The receiver takes the messages of rank 0 after rank 0, or its whole node, said bye. `to`: rank 1, or its forwarder.
void check_kept_credits(std::uint32_t to) {
  CAPTURE(to);
  Rig rig([](std::uint32_t) { return std::make_unique<ForwardSet>(2, 1, 11); }, 4);
  auto& set = static_cast<ForwardSet&>(rig.set());
  const std::uint32_t forwarder = set.forwarder(0);
  const std::uint32_t remote = set.forwarder(1);
  rig[to].answer = [](const Arrival&) { return Endpoint::Answer::hold; };
  for (std::uint64_t i = 1; i <= kForwardWindow; ++i) rig[0].send(to, numbered(i), pattern_body(i, 100));
  rig.drive_without(4);
  for (const std::uint32_t rank : {0U, forwarder}) set.wire(rank).close();
  rig.drive_without(4);
  REQUIRE(set.wire(0).idle());
  REQUIRE(set.wire(forwarder).is_silent());
  const std::uint64_t to_leaf = set.kernel(forwarder).registers().sent(0);
  const std::uint64_t to_node = set.kernel(remote).registers().sent(forwarder);
  rig[to].answer = [](const Arrival&) { return Endpoint::Answer::take; };
  REQUIRE(rig.until([&] { return rig[to].received.size() == kForwardWindow; }));
  set.settle();
  CHECK_EQ(set.kernel(forwarder).registers().sent(0), to_leaf);
  CHECK_EQ(set.kernel(remote).registers().sent(forwarder), to_node);
  for (const std::uint32_t rank : {0U, forwarder}) set.wire(rank).resume();
  for (std::uint64_t i = kForwardWindow + 1; i <= 60; ++i) rig[0].send(to, numbered(i), pattern_body(i, 100));
  REQUIRE(rig.until([&] { return rig[to].received.size() == 60 && rig.all_idle(); }));
  set.settle();
  set.check_accounts();
}

TEST_CASE("forward wires: credits that come back after a farewell are kept until the rank sends again") {
  check_kept_credits(1);
  check_kept_credits(3);
}

}  // namespace
}  // namespace margay::sim::test
