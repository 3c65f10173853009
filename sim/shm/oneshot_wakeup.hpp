// A one-shot wakeup: one thread waits until another calls it.
#pragma once

#include <atomic>
#include <cstdint>

namespace margay::sim {

// The wakeup. Used once. One waiter and one caller; either may be first.
class OneShotWakeup {
 public:
  OneShotWakeup() = default;
  OneShotWakeup(const OneShotWakeup&) = delete;
  OneShotWakeup& operator=(const OneShotWakeup&) = delete;

  // Waits until call(): yields at first, then sleeps.
  void wait();
  // Wakes the waiter, from another thread. The waiter may destroy the object as soon as wait() returns, even while
  // call() still runs: call() then uses only its address.
  void call();

 private:
  // Values of the word: no call yet; the waiter sleeps on the futex; called.
  static constexpr std::uint32_t kWaiting = 0;
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kCalled = 2;

  // Acquire: pairs with the release in call().
  [[nodiscard]] bool called() const { return word_.load(std::memory_order_acquire) == kCalled; }

  // The state, and the futex.
  std::atomic<std::uint32_t> word_{kWaiting};
};

}  // namespace margay::sim
