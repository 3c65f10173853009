// Nodes whose messages are forwarded, in one process: kernels over a virtual network, each with its relay and its
// forwarding wire. The network delays and reorders messages of different pairs by a seed.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/kernel/kernel.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"
#include "tests/sim/wire_harness.hpp"

namespace margay::sim::test {

// Virtual wires that hand over a piece whole, as the wires of hops do.
inline VirtualOptions hop_options() {
  VirtualOptions options;
  options.segment_bytes = kForwardPieceBytes;
  return options;
}

// `nodes` nodes of one forwarder and `others` other ranks each. The forwarders have the highest ranks, so that the
// tests of the contract, which use the lowest, reach each other by the forwarding wire alone.
class ForwardSet final : public WireSet {
 public:
  ForwardSet(std::uint32_t nodes, std::uint32_t others, std::uint64_t seed,
             const VirtualOptions& options = hop_options())
      : nodes_(nodes), others_(others), recorder_(real_clock()), network_(nodes * (others + 1), seed, options) {
    std::vector<std::uint32_t> forwarder_of;
    for (std::uint32_t rank = 0; rank < size(); ++rank) forwarder_of.push_back(forwarder(node_of(rank)));
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      processes_.push_back(std::make_unique<Part>(*this, rank, forwarder_of));
    }
  }
  // All ranks, and those that are not forwarders.
  [[nodiscard]] std::uint32_t size() const { return nodes_ * (others_ + 1); }
  [[nodiscard]] std::uint32_t ranks() const override { return nodes_ * others_; }
  [[nodiscard]] std::uint32_t node_of(std::uint32_t rank) const {
    return rank < ranks() ? rank % nodes_ : rank - ranks();
  }
  [[nodiscard]] std::uint32_t forwarder(std::uint32_t node) const { return ranks() + node; }
  [[nodiscard]] ForwardWire& wire(std::uint32_t rank) override { return processes_[rank]->wire; }
  [[nodiscard]] TransmissionList& finished(std::uint32_t rank) override { return processes_[rank]->finished; }
  [[nodiscard]] Kernel& kernel(std::uint32_t rank) { return processes_[rank]->kernel; }
  [[nodiscard]] ForwardHops& hops(std::uint32_t rank) { return processes_[rank]->hops; }
  [[nodiscard]] ForwardRelay& relay(std::uint32_t rank) { return processes_[rank]->relay; }
  [[nodiscard]] VirtualNetwork& network() { return network_; }
  // The lines about refused frames, of all ranks.
  [[nodiscard]] const std::vector<std::string>& reports() const { return reports_; }
  // A rank that makes no rounds, as one that computes.
  void set_computing(std::uint32_t rank, bool computes) { processes_[rank]->computes = computes; }

  void turn() override {
    static_cast<void>(network_.advance());
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto& process : processes_) {
        if (process->computes) continue;
        moved |= process->kernel.progress();
        while (process->kernel.next_finished() != nullptr) {
        }
      }
    }
  }
  // Turns until nothing moves.
  void settle() {
    for (int quiet = 0; quiet < 3;) {
      const std::uint64_t before = network_.counts().delivered;
      turn();
      quiet = network_.counts().delivered == before ? quiet + 1 : 0;
    }
  }
  // The accounting law of the hops, for each ordered pair.
  void check_accounts() {
    for (std::uint32_t from = 0; from < size(); ++from) {
      for (std::uint32_t to = 0; to < size(); ++to) {
        CAPTURE(from);
        CAPTURE(to);
        std::uint64_t taken = kernel(to).registers().delivered(from);
        for (const std::uint64_t drops : kernel(to).registers().dropped(from)) taken += drops;
        CHECK_EQ(kernel(from).registers().sent(to), taken);
      }
    }
  }

 private:
  struct Part {
    Part(ForwardSet& set, std::uint32_t rank, const std::vector<std::uint32_t>& forwarder_of)
        : hops(ForwardPaths(rank, forwarder_of)),
          wire(hops, finished),
          relay(hops, wire),
          kernel(portals::ProcessId{0, rank}, routes(set, rank), hop_finished, set.recorder_) {
      kernel.set_forwarding(hops, relay);
      relay.report_to([&set](const std::string& line) { set.reports_.push_back(line); });
    }
    Routes routes(ForwardSet& set, std::uint32_t rank) {
      return std::vector<Wire*>(set.size(), &set.network_.attach(rank, hop_finished));
    }
    TransmissionList hop_finished;
    TransmissionList finished;
    ForwardHops hops;
    ForwardWire wire;
    ForwardRelay relay;
    Kernel kernel;
    bool computes = false;
  };

  std::uint32_t nodes_;
  std::uint32_t others_;
  Recorder recorder_;
  VirtualNetwork network_;
  std::vector<std::string> reports_;
  std::vector<std::unique_ptr<Part>> processes_;
};

}  // namespace margay::sim::test
