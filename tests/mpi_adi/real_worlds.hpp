// Worlds of ranks with a device each over the real wires: shared memory, and TCP over loopback with either backend.
#pragma once

#include <sys/mman.h>

#include <chrono>
#include <thread>

#include "sim/wire/shm/shm_wire.hpp"
#include "sim/wire/tcp/tcp_wire.hpp"
#include "tests/mpi_adi/device_world.hpp"

namespace margay::mpi_adi {

// Zeroed memory that the ranks share.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes) : bytes_(bytes) {
    void* const base =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    REQUIRE(base != MAP_FAILED);
    base_ = static_cast<std::byte*>(base);
  }
  ~SharedMemory() { ::munmap(base_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const { return {base_, bytes_}; }

 private:
  std::size_t bytes_;
  std::byte* base_ = nullptr;
};

// A world whose ranks make progress in turn until all have been idle for a while.
class RealWorld : public DeviceWorld {
 public:
  RealWorld(const WorldOptions& options, std::chrono::milliseconds still) : DeviceWorld(options), still_(still) {}
  ~RealWorld() override {
    for (auto& rank : ranks_) {
      rank->device.reset();
      rank->kernel.reset();
      rank->own_wire.reset();
    }
  }
  bool step() override {
    const auto begun = std::chrono::steady_clock::now();
    // Counted in rounds too, because on a loaded machine the time may pass without any.
    int rounds = 0;
    do {
      bool moved = false;
      for (auto& rank : ranks_) {
        tick();
        moved |= progress(*rank);
      }
      if (moved) return true;
    } while (++rounds < kRounds || std::chrono::steady_clock::now() - begun < still_);
    return false;
  }

 private:
  static constexpr int kRounds = 500;
  std::chrono::milliseconds still_;
};

class ShmWorld final : public RealWorld {
 public:
  explicit ShmWorld(const WorldOptions& options)
      : RealWorld(options, std::chrono::milliseconds(1)), memory_(sim::shm_segment_bytes(options.ranks)) {
    std::vector<std::uint32_t> world_ranks(options.ranks);
    std::iota(world_ranks.begin(), world_ranks.end(), 0U);
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
      make_rank(rank, [&](std::uint32_t which, TestRank& made) {
        auto wire = std::make_unique<sim::ShmWire>(memory_.bytes(), which, options.ranks, world_ranks, made.finished);
        REQUIRE_MESSAGE(wire->status().ok(), wire->status().sentence());
        made.own_wire = std::move(wire);
        return made.own_wire.get();
      });
    }
  }
  ~ShmWorld() override {  // before the memory is freed
    for (auto& rank : ranks_) {
      rank->device.reset();
      rank->kernel.reset();
      rank->own_wire.reset();
    }
  }

 private:
  SharedMemory memory_;
};

class TcpWorld final : public RealWorld {
 public:
  TcpWorld(const WorldOptions& options, sim::TcpBackendChoice backend)
      : RealWorld(options, std::chrono::milliseconds(20)) {
    std::vector<std::string> cards;
    std::vector<sim::TcpWire*> wires;
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
      make_rank(rank, [&](std::uint32_t which, TestRank& made) {
        sim::TcpWire::Settings settings;
        settings.rank = which;
        settings.world = options.ranks;
        settings.remote.assign(options.ranks, true);
        settings.remote[which] = false;
        settings.secret.fill(std::byte{7});
        settings.backend = backend;
        auto wire = std::make_unique<sim::TcpWire>(settings, made.finished);
        const portals::Status opened = wire->open();
        REQUIRE_MESSAGE(opened.ok(), opened.sentence());
        cards.push_back(wire->card());
        wires.push_back(wire.get());
        made.own_wire = std::move(wire);
        return made.own_wire.get();
      });
    }
    for (sim::TcpWire* wire : wires) REQUIRE(wire->set_cards(cards).ok());
  }
};

}  // namespace margay::mpi_adi
