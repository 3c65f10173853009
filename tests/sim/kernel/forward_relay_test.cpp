// Tests of the relay: wrong forwarders and hostile frames are refused with the ranks, and the death of a forwarder is
// the loss of the ranks behind it.
#include "sim/kernel/forward_relay.hpp"

#include <algorithm>
#include <random>

#include "tests/sim/forward_set.hpp"
#include "tests/sim/wire_contract.hpp"

namespace margay::sim::test {
namespace {

// Two nodes: ranks 0 and 2 with forwarder 4, ranks 1 and 3 with forwarder 5.
struct TwoNodes {
  Rig rig{[](std::uint32_t) { return std::make_unique<ForwardSet>(2, 2, 9); }, 6};
  ForwardSet& set = static_cast<ForwardSet&>(rig.set());

  // Puts a frame as `from` to `to`, and waits.
  void put(std::uint32_t from, std::uint32_t to, const ForwardFrame& frame, std::vector<std::byte> body = {}) {
    put(from, forward_header(frame, to, body.size()), body);
  }
  void put(std::uint32_t from, portals::Header header, std::vector<std::byte>& body) {
    const portals::Region region(body.data(), body.size());
    while (!set.kernel(from).try_send(header, region)) set.turn();
    set.settle();
    for (std::uint32_t rank = 0; rank < set.size(); ++rank) rig[rank].round();
  }
};

std::vector<std::byte> message_of(std::uint64_t number) {
  std::vector<std::byte> bytes(kFrameHeadMaxBytes);
  bytes.resize(write_head(numbered(number), bytes.data()));
  return bytes;
}

struct WrongRow {
  std::string_view name;
  std::uint32_t from, to;
  ForwardFrame frame;
};

TEST_CASE("relays: only the process before on the path may put a frame, whatever the frame says") {
  const std::vector<WrongRow> rows = {
      {"a rank for another one of its node", 2, 4, {ForwardKind::whole, 0, 1, 1}},
      {"a rank for one of another node", 0, 4, {ForwardKind::whole, 1, 2, 1}},
      {"a rank for a forwarder", 0, 4, {ForwardKind::whole, 4, 1, 1}},
      {"a forwarder for a rank of the receiver's node", 5, 4, {ForwardKind::whole, 0, 1, 1}},
      {"a forwarder for the receiver", 5, 4, {ForwardKind::whole, 4, 1, 1}},
      {"a rank directly to another node's forwarder", 0, 5, {ForwardKind::whole, 0, 1, 1}},
      {"a rank directly to another node's rank", 0, 1, {ForwardKind::whole, 0, 1, 1}},
      {"another rank of the node to the final one", 2, 0, {ForwardKind::whole, 1, 0, 1}},
      {"between ranks of one node", 0, 4, {ForwardKind::whole, 0, 2, 1}},
      {"between forwarders", 4, 5, {ForwardKind::whole, 4, 5, 1}},
      {"credits of another rank", 2, 4, {ForwardKind::credit, 0, 1, 4}},
      {"credits that were never used", 0, 4, {ForwardKind::credit, 0, 1, 4}},
      {"a bye for another rank", 2, 4, {ForwardKind::bye, 0, 4, 0}},
      {"a loss by a rank that forwards for none", 0, 4, {ForwardKind::lost, 1, 4, 0}},
      {"a loss of a rank of the receiver's node", 5, 4, {ForwardKind::lost, 2, 4, 0}},
  };
  for (const WrongRow& row : rows) {
    CAPTURE(row.name);
    TwoNodes nodes;
    nodes.put(row.from, row.to, row.frame, row.frame.is_piece() ? message_of(1) : std::vector<std::byte>());
    REQUIRE_EQ(nodes.set.reports().size(), 1);
    const std::string& line = nodes.set.reports().front();
    CHECK(line.find("rank " + std::to_string(row.from) + " sent for rank " + std::to_string(row.frame.origin)) !=
          std::string::npos);
    CHECK_EQ(nodes.set.relay(row.to).refused(), 1);
    for (std::uint32_t rank = 0; rank < nodes.set.size(); ++rank) {
      CHECK(nodes.rig[rank].received.empty());
      CHECK(nodes.rig[rank].lost.empty());
    }
    // The job goes on: the refused frame is a drop, and a right message passes.
    nodes.rig[0].send(1, numbered(7), {});
    REQUIRE(nodes.rig.until([&] { return nodes.rig[1].received.size() == 1; }));
    nodes.set.settle();
    nodes.set.check_accounts();
  }
}

TEST_CASE("relays: an origin cannot fill a forwarder beyond its window") {
  TwoNodes nodes;
  nodes.set.set_computing(1, true);
  for (std::uint64_t piece = 1; piece <= 3 * kForwardWindow; ++piece) {
    nodes.put(0, 4, {ForwardKind::whole, 0, 1, piece}, message_of(piece));
  }
  CHECK_EQ(nodes.set.relay(4).passed(), kForwardWindow);
  CHECK_EQ(nodes.set.relay(4).refused(), 2 * kForwardWindow);
  CHECK_LE(nodes.set.hops(5).most_queued(), kForwardWindow);
  CHECK(nodes.set.reports().front().find("window") != std::string::npos);
}

TEST_CASE("relays: a stream that no margay rank sends ends its flow, with the mistake") {
  const std::vector<std::pair<std::string_view, ForwardFrame>> rows = {
      {"out of order", {ForwardKind::whole, 0, 1, 2}},
      {"continue", {ForwardKind::segment, 0, 1, 1}},
      {"malformed", {ForwardKind::whole, 0, 1, 1}},
      {"fit its body", {ForwardKind::begin, 0, 1, 1}},
  };
  for (const auto& row : rows) {
    const std::string_view mistake = row.first;
    CAPTURE(mistake);
    TwoNodes nodes;
    std::vector<std::byte> body = message_of(1);
    if (mistake == "malformed") body.assign(40, std::byte{0xff});
    nodes.put(0, 4, row.second, body);
    REQUIRE_EQ(nodes.set.reports().size(), 1);
    CHECK(nodes.set.reports().front().find(mistake) != std::string::npos);
    REQUIRE_EQ(nodes.rig[1].lost.size(), 1);
    CHECK_EQ(nodes.rig[1].lost.front(), 0);
    nodes.set.check_accounts();
  }
}

// Headers and bodies of random bytes, from every rank to every rank.
TEST_CASE("relays: random frames crash nothing, and keep the accounts") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    TwoNodes nodes;
    std::mt19937_64 random(seed);
    for (int i = 0; i < 300; ++i) {
      const auto from = static_cast<std::uint32_t>(random() % 6);
      const auto to = static_cast<std::uint32_t>(random() % 6);
      if (from == to) continue;
      ForwardFrame frame;
      frame.kind = static_cast<ForwardKind>(random() % 13);
      frame.origin = static_cast<std::uint32_t>(random() % 8 == 0 ? random() : random() % 6);
      frame.final = static_cast<std::uint32_t>(random() % 8 == 0 ? random() : random() % 6);
      frame.number = random() % 3 == 0 ? random() : random() % 4;
      std::vector<std::byte> body(random() % 3 == 0 ? 0 : random() % 100);
      for (std::byte& byte : body) byte = static_cast<std::byte>(random() % 5);
      if (random() % 3 == 0) body = message_of(random());
      nodes.put(from, to, frame, body);
    }
    nodes.set.settle();
    nodes.set.check_accounts();
  }
}

TEST_CASE("relays: the death of a forwarder is the loss of the ranks behind it, and of all for its own node") {
  TwoNodes nodes;
  Rig& rig = nodes.rig;
  // Each knows the others: hops went in both directions.
  rig[0].send(1, numbered(1), pattern_body(1, 100));
  rig[3].send(2, numbered(1), pattern_body(1, 100));
  REQUIRE(rig.until([&] { return rig[1].received.size() == 1 && rig[2].received.size() == 1; }));
  Outgoing& waiting = rig[0].queue(1, numbered(2), pattern_body(2, 5'000'000));
  nodes.set.network().lose(5, "killed");
  nodes.set.set_computing(5, true);
  REQUIRE(rig.until([&] {
    return rig[0].lost.size() == 3 && rig[2].lost.size() == 3 && rig[3].lost.size() == 3 && rig[4].lost.size() == 2;
  }));
  const auto sorted = [&](std::uint32_t rank) {
    std::ranges::sort(rig[rank].lost);
    return rig[rank].lost;
  };
  CHECK(sorted(0) == std::vector<std::uint32_t>{1, 3, 5});
  CHECK(sorted(3) == std::vector<std::uint32_t>{0, 2, 4});
  CHECK(sorted(4) == std::vector<std::uint32_t>{1, 3});
  CHECK(waiting.transmission.state == Transmission::State::failed);
  CHECK(rig[0].queue(3, numbered(9), {}).transmission.state == Transmission::State::failed);
  CHECK(sorted(2) == std::vector<std::uint32_t>{1, 3, 5});
}

TEST_CASE("relays: the death of a rank is its loss for the ranks of other nodes") {
  TwoNodes nodes;
  Rig& rig = nodes.rig;
  rig[0].send(1, numbered(1), pattern_body(1, 100));
  REQUIRE(rig.until([&] { return rig[1].received.size() == 1; }));
  nodes.set.network().lose(1, "killed");
  nodes.set.set_computing(1, true);
  REQUIRE(rig.until([&] { return rig[0].lost.size() == 1 && rig[2].lost.size() == 1 && rig[4].lost.size() == 1; }));
  CHECK_EQ(rig[0].lost.front(), 1);
  CHECK_EQ(rig[4].lost.front(), 1);
  CHECK(rig[3].lost.empty());
  rig[0].send(3, numbered(1), pattern_body(1, 100'000));
  REQUIRE(rig.until([&] { return rig[3].received.size() == 1; }));
}

// Only the forwarder of its node sees the death. It knows no other forwarder then, so it can notify none.
TEST_CASE("relays: a rank that died before its first contact is lost for whoever sends to it or monitors it") {
  for (const bool sends : {false, true}) {
    for (const bool left : {false, true}) {
      TwoNodes nodes;
      Rig& rig = nodes.rig;
      nodes.set.set_computing(1, true);
      nodes.set.relay(5).neighbour_lost(1, "killed", left);
      nodes.set.settle();
      Outgoing* waiting = nullptr;
      if (sends) {
        waiting = &rig[0].queue(1, numbered(1), pattern_body(1, 1'000'000));
      } else {
        nodes.set.wire(0).monitor(1);
      }
      REQUIRE(rig.until([&] { return rig[0].lost.size() == 1 && rig[2].lost.size() == 1 && rig[4].lost.size() == 1; }));
      CHECK_EQ(rig[0].lost.front(), 1);
      if (waiting != nullptr) CHECK(waiting->transmission.state == Transmission::State::failed);
      // The others of its node are reached.
      rig[0].send(3, numbered(1), pattern_body(1, 100'000));
      REQUIRE(rig.until([&] { return rig[3].received.size() == 1; }));
      CHECK(nodes.set.reports().empty());
    }
  }
}

// If it were progress, ranks that nudge each other in a deadlock would hide it.
TEST_CASE("relays: a nudge reaches the final rank, and does not count as progress") {
  VirtualOptions options = hop_options();
  options.full_probability = 0;
  ForwardSet set(2, 2, 9, options);
  set.wire(0).nudge(1);
  for (int turn = 0; turn < 100; ++turn) {
    static_cast<void>(set.network().advance());
    for (std::uint32_t rank = 0; rank < set.size(); ++rank) CHECK_FALSE(set.kernel(rank).progress());
  }
  CHECK_EQ(set.kernel(1).registers().delivered(set.forwarder(1)), 1);
  set.check_accounts();
}

// Programs that test their requests in loops would otherwise fill the wires with nudges.
TEST_CASE("relays: a path is nudged once in kNudgeEachNs") {
  VirtualOptions options = hop_options();
  options.full_probability = 0;
  ForwardSet set(2, 2, 9, options);
  const std::uint64_t begin = real_clock().now_ns();
  for (int i = 0; i < 100; ++i) set.wire(0).nudge(1);
  const std::uint64_t most = 1 + (real_clock().now_ns() - begin) / ForwardWire::kNudgeEachNs;
  for (int turn = 0; turn < 100; ++turn) {
    static_cast<void>(set.network().advance());
    for (std::uint32_t rank = 0; rank < set.size(); ++rank) CHECK_FALSE(set.kernel(rank).progress());
  }
  CHECK_LE(set.kernel(1).registers().delivered(set.forwarder(1)), most);
}

}  // namespace
}  // namespace margay::sim::test
