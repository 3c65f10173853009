// A world of several ranks with a device each, in one process and one thread, over any wire. Tests step them in a
// seeded order.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/progress/device.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/trace/recorder.hpp"
#include "sim/wire/self_wire.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"

namespace margay::mpi_adi {

// The objects of one rank. Members in the order in which they must outlive each other.
struct TestRank {
  TestRank(portals::ProcessId me, const sim::Clock& clock) : recorder(clock), self(me, finished) {}
  sim::Recorder recorder;
  sim::TransmissionList finished;
  sim::SelfWire self;
  std::unique_ptr<sim::Wire> own_wire;  // in worlds where each rank makes its own
  std::unique_ptr<sim::Kernel> kernel;
  std::unique_ptr<Device> device;
  Communicator world;
};

inline Datatype byte_type() {
  return own_bytes();
}

// Eight bytes at a time, because a sanitizer's checks of single bytes would dominate the test.
inline std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> data(bytes);
  std::uint64_t state = (seed + std::uint64_t{1}) * 0x9e37'79b9'7f4a'7c15;
  for (std::size_t i = 0; i < bytes; i += 8) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t word = state ^ state >> 29U;
    std::memcpy(data.data() + i, &word, std::min<std::size_t>(8, bytes - i));
  }
  return data;
}

struct WorldOptions {
  std::uint32_t ranks = 2;
  std::uint64_t seed = 1;
  DeviceOptions device;
  bool trace = false;
  bool trace_walks = false;
  std::uint32_t devices = ~0U;  // ranks from here on have a kernel and no device: tests play their part by hand
};

class DeviceWorld {
 public:
  explicit DeviceWorld(const WorldOptions& options) : options_(options), random_(options.seed) {}
  virtual ~DeviceWorld() = default;
  DeviceWorld(const DeviceWorld&) = delete;
  DeviceWorld& operator=(const DeviceWorld&) = delete;

  [[nodiscard]] Device& device(std::uint32_t rank) { return *ranks_[rank]->device; }
  [[nodiscard]] sim::Kernel& kernel(std::uint32_t rank) { return *ranks_[rank]->kernel; }
  [[nodiscard]] sim::Recorder& recorder(std::uint32_t rank) { return ranks_[rank]->recorder; }
  [[nodiscard]] Communicator& world(std::uint32_t rank) { return ranks_[rank]->world; }
  [[nodiscard]] Datatype& bytes() { return bytes_; }
  [[nodiscard]] std::mt19937_64& random() { return random_; }
  [[nodiscard]] std::uint32_t size() const { return options_.ranks; }

  // Makes progress on some rank, or advances the time. Returns false if all is at rest.
  virtual bool step() = 0;
  // Steps until `done`. Returns whether it came true before all was at rest.
  bool until(const std::function<bool()>& done) {
    while (!done()) {
      if (!step()) return done();
    }
    return true;
  }
  // Separates later events from earlier ones by a tick.
  void tick() { clock_.advance_ns(1); }
  void settle() {
    while (step()) {
    }
  }
  // sent = delivered + dropped, for each ordered pair. Requires: at rest.
  void check_accounting() {
    for (std::uint32_t from = 0; from < size(); ++from) {
      for (std::uint32_t to = 0; to < size(); ++to) {
        const sim::Registers& receiver = kernel(to).registers();
        const auto& drops = receiver.dropped(from);
        const std::uint64_t dropped = std::accumulate(drops.begin(), drops.end(), std::uint64_t{0});
        CHECK(kernel(from).registers().sent(to) == receiver.delivered(from) + dropped);
      }
    }
  }

 protected:
  // Makes rank `rank`; `reach(rank, made)` returns the wire by which it reaches the other ranks.
  template <typename Reach>
  void make_rank(std::uint32_t rank, Reach&& reach) {
    const portals::ProcessId me{0, rank};
    auto& made = ranks_.emplace_back(std::make_unique<TestRank>(me, clock_));
    sim::Wire* const others = reach(rank, *made);
    std::vector<sim::Wire*> routes(options_.ranks, others);
    routes[rank] = &made->self;
    sim::RecorderOptions recording;
    recording.rank = rank;
    recording.size = options_.ranks;
    recording.walk_steps = options_.trace_walks ? sim::kAllWalkSteps : 0;
    if (options_.trace) REQUIRE(made->recorder.open_memory(recording).ok());
    made->kernel = std::make_unique<sim::Kernel>(me, routes, made->finished, made->recorder);
    if (rank < options_.devices) made->device = std::make_unique<Device>(*made->kernel, options_.device);
    auto group = std::make_shared<Group>();
    sim::SharedTable::Numbers members(options_.ranks);
    std::iota(members.begin(), members.end(), 0U);
    group->world_ranks = std::move(members);
    group->my_rank = static_cast<int>(rank);
    made->world.set_groups(group);
  }

  bool progress(TestRank& rank) {
    if (rank.device != nullptr) return rank.device->progress();
    const bool moved = rank.kernel->progress();
    while (rank.kernel->changed().take() != nullptr) {
    }
    while (rank.kernel->next_finished() != nullptr) {
    }
    return moved;
  }

  WorldOptions options_;
  std::mt19937_64 random_;
  sim::VirtualClock clock_;  // stamps traces: one tick a step, so that events of all ranks have one order
  Datatype bytes_ = byte_type();
  std::vector<std::unique_ptr<TestRank>> ranks_;
};

// A world on the virtual network: one seed determines everything, including stalls and full wires.
class VirtualWorld final : public DeviceWorld {
 public:
  explicit VirtualWorld(const WorldOptions& options, const sim::VirtualOptions& network = {})
      : DeviceWorld(options), network_(options.ranks, options.seed, network) {
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
      make_rank(rank, [this](std::uint32_t which, TestRank& made) { return &network_.attach(which, made.finished); });
    }
  }
  ~VirtualWorld() override {
    for (auto& rank : ranks_) {
      rank->device.reset();
      rank->kernel.reset();
    }
  }

  [[nodiscard]] sim::VirtualNetwork& network() { return network_; }

  // A random rank makes progress, or the network advances. All is at rest when neither makes any more progress.
  bool step() override {
    tick();
    const std::uint64_t choice = random_() % (options_.ranks + 1);
    if (choice < options_.ranks) {
      if (progress(*ranks_[choice])) return true;
    } else if (network_.advance()) {
      return true;
    }
    // Twice, because a receiver that took part of a body has made room that its sender sees only the next time.
    bool moved = false;
    for (int pass = 0; pass < 2; ++pass) {
      for (auto& rank : ranks_) moved |= progress(*rank);
    }
    return moved || network_.advance();
  }

 private:
  sim::VirtualNetwork network_;
};

}  // namespace margay::mpi_adi
