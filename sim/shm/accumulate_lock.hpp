// The lock around updates of window elements that the processor cannot update atomically: elements of more than 8
// bytes, and elements that are not aligned (is_atomic_element() in sim/shm/atomic_elements). Each target has one lock,
// and all updates of such elements in its windows take it. It is not fair, because it is held for a few instructions
// only.
//
// A holder that dies leaves the element that it was updating unchanged, updated, or torn. MPI defines nothing about a
// window's contents after that, so there is nothing to repair, and the process that takes over continues.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/base/limits.hpp"
#include "sim/shm/holder_lock.hpp"

namespace margay::sim {

// The lock's data in shared memory, one for each rank (RankArea); all zero is free.
struct alignas(kCacheLineBytes) AccumulateLockData {
  // The holder's id + 1; 0: free.
  std::uint32_t holder = 0;
};
static_assert(std::is_trivially_copyable_v<AccumulateLockData> && sizeof(AccumulateLockData) == kCacheLineBytes);

// A process's view of the lock, for std::lock_guard. Not recursive; threads of one process exclude each other too.
class AccumulateLock {
 public:
  // As HolderLock's constructor.
  AccumulateLock(AccumulateLockData& data, std::uint32_t id, HolderDeathTest is_dead)
      : lock_(data.holder, id, is_dead) {}

  // Ignores whether the lock was taken over from a dead holder, because a torn element is not repaired, see above.
  void lock() { static_cast<void>(lock_.enter()); }
  void unlock() { lock_.leave(); }

 private:
  // Its word is in the target's area of the node's segment.
  HolderLock lock_;
};

}  // namespace margay::sim
