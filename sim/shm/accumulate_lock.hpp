// The lock around updates of window elements that no single instruction performs: types of 16 bytes, and elements that
// are not aligned (sim/shm/atomic_elements lists them). There is one for each target's window memory, and every update
// of such elements there takes it. Not fair, because it is held for a few instructions per element.
//
// A holder that dies leaves the element that it was updating unchanged, updated, or torn. MPI defines nothing about a
// window's contents after that, so there is nothing to repair, and the process that takes over continues.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/base/limits.hpp"
#include "sim/shm/holder_lock.hpp"

namespace margay::sim {

// In shared memory, one for each rank (RankArea); all zero is free.
struct alignas(kCacheLineBytes) AccumulateLockData {
  // The holder's id + 1; 0: free.
  std::uint32_t holder = 0;
};
static_assert(std::is_trivially_copyable_v<AccumulateLockData> && sizeof(AccumulateLockData) == kCacheLineBytes);

// A process's view of the lock, for std::lock_guard. Not recursive; threads of one process exclude each other too.
class AccumulateLock {
 public:
  // As HolderLock's constructor.
  AccumulateLock(AccumulateLockData& data, std::uint32_t id, HolderGone gone) : lock_(data.holder, id, gone) {}

  // Whether the lock was taken over from a dead holder does not matter here, see above.
  void lock() { static_cast<void>(lock_.enter()); }
  void unlock() { lock_.leave(); }

 private:
  // Its word is in the target's area of the node's segment.
  HolderLock lock_;
};

}  // namespace margay::sim
