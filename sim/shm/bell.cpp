#include "sim/shm/bell.hpp"

#include <algorithm>

namespace margay::sim {

void BellRinger::wake() {
  // Clears the flag so that later ringers do not all make the system call. Release and acquire: pairs with the exchange
  // in begin_sleep: the sleeper that set the flag has read `word` before ring() changes it (invariant 3). Without this,
  // the sleeper could have read the new word, and would sleep although its flag is cleared, so that no ring follows.
  if (std::atomic_ref<std::uint32_t>(data_->sleeping).exchange(0, std::memory_order_acq_rel) != 0) ring();
}

void BellRinger::ring() {
  // Release: pairs with the acquire in rings() and begin_sleep(): a thread that sees the new count sees what was
  // published before the ring. Without it a woken coprocessor could poll and find nothing.
  std::atomic_ref<std::uint32_t>(data_->word).fetch_add(1, std::memory_order_release);
  futex_wake_all(data_->word);
}

void BellOwner::begin_sleep() {
  // Acquire: keeps the exchange below from being visible before this read (invariant 3), and pairs with ring().
  seen_ = std::atomic_ref<std::uint32_t>(data_->word).load(std::memory_order_acquire);
  // Pairs with the read in ring_if_sleeping; see there. Acquire: if a ringer's fetch_add came first, the poll that
  // follows sees that ringer's message.
  std::atomic_ref<std::uint32_t>(data_->sleeping).exchange(1, std::memory_order_acq_rel);
  sure_ = node_barrier();
}

void BellOwner::sleep(std::uint64_t timeout_ns) {
  // Under the thread sanitizer every ringer uses the read-modify-write, which misses no ring even without membarrier.
  const bool sure = sure_ || !kMembarrierAllowed;
  futex_wait(data_->word, seen_, sure ? timeout_ns : std::min(timeout_ns, kUnsureSleepNs));
}

void BellOwner::end_sleep() {
  // Relaxed: a ringer that still sees 1 rings once unnecessarily.
  std::atomic_ref<std::uint32_t>(data_->sleeping).store(0, std::memory_order_relaxed);
}

std::uint32_t BellOwner::rings() const {
  // Acquire: pairs with the release in ring().
  return std::atomic_ref<std::uint32_t>(data_->word).load(std::memory_order_acquire);
}

void BellOwner::wait_rung(std::uint32_t seen, std::uint64_t timeout_ns) {
  futex_wait(data_->word, seen, timeout_ns);
}

}  // namespace margay::sim
