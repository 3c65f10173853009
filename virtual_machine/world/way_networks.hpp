// The networks of a world: by default one, whose wires have the name `virtual`; with a plan of ways (`--set
// way=shm,tcp`) one for each wire of the plan, so that a pair of ranks has several ways. Each has its own frames,
// windows and counts; the world provides their times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/machine/process.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"
#include "virtual_machine/model/network_model.hpp"
#include "virtual_machine/model/run_report.hpp"
#include "virtual_machine/model/way_plan.hpp"

namespace margay::virtual_machine {

// The functions of sim::VirtualTiming for several networks: `way` is the network's position in the plan.
class WayTiming {
 public:
  WayTiming() = default;
  WayTiming(const WayTiming&) = delete;
  WayTiming& operator=(const WayTiming&) = delete;
  virtual ~WayTiming() = default;
  [[nodiscard]] virtual std::uint64_t arrival_ns(std::size_t way, std::uint32_t from, std::uint32_t to,
                                                 std::uint64_t bytes, bool begins) = 0;
  virtual void sent(std::size_t way, std::uint32_t to, std::uint64_t at_ns) = 0;
  virtual void taken(std::size_t way, std::uint32_t by, std::uint32_t from, bool begins) = 0;
  // `is_new`: the poll looks for a message. Otherwise it follows one that has found a message, which also showed
  // whether there is a further one.
  [[nodiscard]] virtual std::uint64_t begin_poll(std::size_t way, std::uint32_t rank, bool is_new) = 0;
  [[nodiscard]] virtual std::uint64_t present_ns(std::uint32_t rank) const = 0;
};

class WayNetworks {
 public:
  // `timing` and `model` outlive the networks. Requires: `plan` is of the model's machine and ranks.
  WayNetworks(WayTiming& timing, WayPlan plan, const NetworkModel& model, std::uint64_t seed,
              sim::VirtualOptions options);

  // Whether the ranks have the wires of a plan.
  [[nodiscard]] bool has_plan() const { return !plan_.empty(); }
  [[nodiscard]] std::size_t size() const { return ways_.size(); }
  [[nodiscard]] sim::WireId wire(std::size_t way) const { return ways_[way].wire; }
  // The position of a wire in the plan; size(): it has none.
  [[nodiscard]] std::size_t way_of(sim::WireId wire) const;
  // The network of the model that carries a way's messages between two ranks, or kInMemory.
  [[nodiscard]] std::uint32_t network(std::size_t way, std::uint32_t from, std::uint32_t to) const;
  // The virtual time of a poll of the way's wire.
  [[nodiscard]] std::uint64_t poll_ns(std::size_t way) const { return ways_[way].poll_ns; }
  // Whether a rank has queued messages on a way.
  [[nodiscard]] bool has_queued(std::size_t way, std::uint32_t rank) { return !ways_[way].network.wire(rank).idle(); }
  // Makes the rank's process have a wire on each network.
  void attach(std::uint32_t rank, sim::VirtualSettings& settings);

  // The functions of sim::VirtualNetwork, for all networks.
  [[nodiscard]] sim::VirtualCounts counts() const;
  void lose(std::uint32_t rank, std::string_view reason);
  void drop_lost();

  // Counts, for the report: bytes of bodies that were sent, and polls that found nothing and were not carried out.
  void count_bytes(std::size_t way, std::uint64_t bytes) { ways_[way].counts.bytes += bytes; }
  void count_polls(std::size_t way, std::uint64_t polls) { ways_[way].counts.polls += polls; }
  // Of each wire of the plan; empty without a plan.
  [[nodiscard]] std::vector<ReportedWay> report() const;

 private:
  // One network, and its part of the timing.
  struct Way final : sim::VirtualTiming {
    // `options` have its wire.
    Way(WayTiming& timing, std::size_t way, std::uint32_t ranks, std::uint64_t seed,
        const sim::VirtualOptions& options);
    [[nodiscard]] std::uint64_t arrival_ns(std::uint32_t from, std::uint32_t to, std::uint64_t bytes,
                                           bool begins) override {
      return world.arrival_ns(number, from, to, bytes, begins);
    }
    void sent(std::uint32_t to, std::uint64_t at_ns) override { world.sent(number, to, at_ns); }
    void taken(std::uint32_t by, std::uint32_t from, bool begins) override;
    [[nodiscard]] std::uint64_t begin_poll(std::uint32_t rank) override;
    [[nodiscard]] std::uint64_t present_ns(std::uint32_t rank) const override { return world.present_ns(rank); }

    WayTiming& world;
    const std::size_t number;
    const sim::WireId wire;
    std::uint64_t poll_ns = 0;
    // By rank: the last poll has found something.
    std::vector<bool> found;
    ReportedWay counts;
    sim::VirtualNetwork network;
  };

  WayPlan plan_;
  const NetworkModel& model_;
  // A deque, because elements do not move.
  std::deque<Way> ways_;
};

}  // namespace margay::virtual_machine
