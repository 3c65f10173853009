#include "sim/shm/oneshot_wakeup.hpp"

#include <sched.h>

#include "sim/shm/barrier.hpp"

namespace margay::sim {

namespace {

// Yields of about 1 us: sleeping and waking cost as much as several yields.
constexpr int kYieldsBeforeSleep = 20;

}  // namespace

void OneShotWakeup::wait() {
  for (int yields = 0; yields < kYieldsBeforeSleep; ++yields) {
    if (called()) return;
    sched_yield();
  }
  std::uint32_t waiting = kWaiting;
  // Relaxed: call()'s exchange is right with either old value, and called() acquires what the caller did before call().
  static_cast<void>(word_.compare_exchange_strong(waiting, kAsleep, std::memory_order_relaxed));
  while (!called()) futex_wait(reinterpret_cast<const std::uint32_t&>(word_), kAsleep, ~std::uint64_t{0});
}

void OneShotWakeup::call() {
  // Release: pairs with the acquire in called(): the woken thread sees what was done before.
  if (word_.exchange(kCalled, std::memory_order_release) == kAsleep) {
    futex_wake_all(reinterpret_cast<const std::uint32_t&>(word_));  // an address; nothing there is read
  }
}

}  // namespace margay::sim
