// What a member keeps for the others of a window, in memory that those of its node have mapped where there is such
// memory: its lock, and the counts of its epochs. Who cannot reach it sends messages, and the member's device does it
// in the sender's name: there is one lock, whichever way it is asked for.
//
//   WindowLockData | a slot for each member | counts of posts to this member | counts of completions here
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/shm/window_counters.hpp"
#include "sim/shm/window_lock.hpp"

namespace margay::mpi_adi {

class WindowControl {
 public:
  WindowControl() = default;
  // `memory`: bytes_for(members), zero at first, at the beginning of a cache line.
  WindowControl(std::byte* memory, std::size_t members) : memory_(memory), members_(members) {}
  [[nodiscard]] static std::size_t bytes_for(std::size_t members) {
    return sizeof(sim::WindowLockData) + members * (sizeof(std::uint64_t) + 2 * sizeof(std::uint32_t));
  }
  [[nodiscard]] bool here() const { return memory_ != nullptr; }

  // `id`, `gone`: of the process that calls (sim/shm/holder_lock).
  [[nodiscard]] sim::WindowLock lock(std::uint32_t id, sim::HolderGone gone) const {
    return {*reinterpret_cast<sim::WindowLockData*>(memory_), slots(), id, gone};
  }
  // posts().publish(target): target exposes itself to this member. completions().publish(origin): origin is done here.
  [[nodiscard]] sim::WindowCounters posts() const { return sim::WindowCounters(row(0)); }
  [[nodiscard]] sim::WindowCounters completions() const { return sim::WindowCounters(row(1)); }

 private:
  [[nodiscard]] std::span<std::uint64_t> slots() const {
    return {reinterpret_cast<std::uint64_t*>(memory_ + sizeof(sim::WindowLockData)), members_};
  }
  [[nodiscard]] std::span<std::uint32_t> row(std::size_t which) const {
    std::byte* const rows = memory_ + sizeof(sim::WindowLockData) + members_ * sizeof(std::uint64_t);
    return {reinterpret_cast<std::uint32_t*>(rows) + which * members_, members_};
  }

  std::byte* memory_ = nullptr;
  std::size_t members_ = 0;
};

}  // namespace margay::mpi_adi
