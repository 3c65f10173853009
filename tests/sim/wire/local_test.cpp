// Tests of the wire contract over the wires without a second process: self, shared memory in one process, virtual.
#include "sim/wire/self_wire.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"
#include "tests/sim/shm_set.hpp"
#include "tests/sim/wire_contract.hpp"

namespace margay::sim::test {
namespace {

class SelfSet final : public WireSet {
 public:
  SelfSet() : wire_(portals::ProcessId{0, 0}, finished_) {}
  [[nodiscard]] std::uint32_t ranks() const override { return 1; }
  [[nodiscard]] Wire& wire(std::uint32_t) override { return wire_; }
  [[nodiscard]] TransmissionList& finished(std::uint32_t) override { return finished_; }

 private:
  TransmissionList finished_;
  SelfWire wire_;
};

class VirtualSet final : public WireSet {
 public:
  VirtualSet(std::uint32_t ranks, std::uint64_t seed, const VirtualOptions& options)
      : finished_(ranks), network_(ranks, seed, options) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) network_.attach(rank, finished_[rank]);
  }
  [[nodiscard]] std::uint32_t ranks() const override { return static_cast<std::uint32_t>(finished_.size()); }
  [[nodiscard]] Wire& wire(std::uint32_t rank) override { return network_.wire(rank); }
  [[nodiscard]] TransmissionList& finished(std::uint32_t rank) override { return finished_[rank]; }
  void turn() override { network_.advance(); }
  [[nodiscard]] VirtualNetwork& network() { return network_; }

 private:
  std::vector<TransmissionList> finished_;
  VirtualNetwork network_;
};

TEST_CASE("wire contract: self") {
  run_wire_contract([](std::uint32_t) { return std::make_unique<SelfSet>(); }, true);
}

TEST_CASE("wire contract: shm") {
  run_wire_contract([](std::uint32_t ranks) { return std::make_unique<ShmSet>(ranks); });
}

TEST_CASE("wire contract: virtual") {
  std::uint64_t seed = 0;
  SUBCASE("seed 1") {
    seed = 1;
  }
  SUBCASE("seed 2") {
    seed = 2;
  }
  run_wire_contract(
      [seed](std::uint32_t ranks) { return std::make_unique<VirtualSet>(ranks, seed, VirtualOptions{}); });
}

TEST_CASE("virtual wires: runs with the same seed are equal, with another seed different") {
  const auto run = [](std::uint64_t seed) {
    Rig rig([seed](std::uint32_t ranks) { return std::make_unique<VirtualSet>(ranks, seed, VirtualOptions{}); }, 4);
    for (std::uint64_t i = 1; i <= 50; ++i) {
      for (std::uint32_t from = 1; from < 4; ++from) rig[from].send(0, numbered(i), pattern_body(i, 300 * i));
    }
    REQUIRE(rig.until([&] { return rig[0].received.size() == 150 && rig.all_idle(); }));
    std::vector<std::uint32_t> peers;
    for (const Received& got : rig[0].received) peers.push_back(got.peer);
    peers.push_back(static_cast<std::uint32_t>(static_cast<VirtualSet&>(rig.set()).network().now_ns()));
    return peers;
  };
  CHECK(run(7) == run(7));
  CHECK(run(7) != run(8));
}

TEST_CASE("virtual wires: a lost process is reported once to each peer, and nothing is lost silently") {
  Rig rig([](std::uint32_t ranks) { return std::make_unique<VirtualSet>(ranks, 5, VirtualOptions{}); }, 3);
  auto& network = static_cast<VirtualSet&>(rig.set()).network();
  Outgoing& to_lost = rig[0].queue(1, numbered(1), pattern_body(1, 1 << 20));
  rig[1].queue(2, numbered(1), pattern_body(1, 1 << 20));
  rig[2].send(0, numbered(1), pattern_body(1, 100));
  REQUIRE(rig.until([&] { return !rig[2].received.empty(); }));
  network.lose(1, "gone for the test");
  REQUIRE(rig.until([&] { return rig[0].lost.size() == 1 && rig[2].lost.size() == 1 && rig.all_idle(); }));
  CHECK(to_lost.transmission.state == Transmission::State::failed);
  CHECK(rig[2].received[0].state == Received::State::cut);
  CHECK(rig[0].queue(1, numbered(2), {}).transmission.state == Transmission::State::failed);
  rig[2].send(0, numbered(2), pattern_body(2, 70'000));
  REQUIRE(
      rig.until([&] { return rig[0].received.size() == 2 && rig[0].received[1].state == Received::State::complete; }));
  rig.drive_without(1);
  const VirtualCounts& counts = network.counts();
  CHECK_EQ(counts.sent, counts.delivered + counts.lost);
  CHECK_EQ(rig[0].lost.size(), 1);
}

}  // namespace
}  // namespace margay::sim::test
