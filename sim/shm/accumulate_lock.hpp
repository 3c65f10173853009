// Around the update of elements that no instruction updates at once: types of 16 bytes, elements that are not aligned
// (sim/shm/atomic_elements says which). One for each target's window memory; all that update such elements there take
// it. Not fair: it is held for a few instructions an element.
//
// A holder that dies leaves the element that it was at as it was, as it should be, or torn: MPI says nothing of a
// window's contents after that. So there is nothing to repair, and who takes over goes on.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sim/base/limits.hpp"
#include "sim/shm/holder_lock.hpp"

namespace margay::sim {

// In shared memory; all zero is free.
struct alignas(kCacheLineBytes) AccumulateLockData {
  std::uint32_t holder = 0;  // its id + 1
};
static_assert(std::is_trivially_copyable_v<AccumulateLockData> && sizeof(AccumulateLockData) == kCacheLineBytes);

// For std::lock_guard. Not recursive, also for threads of one process: each waits for the other.
class AccumulateLock {
 public:
  // As HolderLock's.
  AccumulateLock(AccumulateLockData& data, std::uint32_t id, HolderGone gone) : lock_(data.holder, id, gone) {}

  void lock() { static_cast<void>(lock_.enter()); }
  void unlock() { lock_.leave(); }

 private:
  HolderLock lock_;
};

}  // namespace margay::sim
