// One thread waits until another calls it, once.
#pragma once

#include <atomic>
#include <cstdint>

namespace margay::sim {

class Summons {
 public:
  Summons() = default;
  Summons(const Summons&) = delete;
  Summons& operator=(const Summons&) = delete;

  // Until call(). Gives the processor to others at first, and then sleeps.
  void wait();
  // From another thread. The summons may be gone as soon as this has begun: its thread needs no more than the value.
  void call();

 private:
  static constexpr std::uint32_t kWaiting = 0;
  static constexpr std::uint32_t kAsleep = 1;
  static constexpr std::uint32_t kCalled = 2;

  // Acquire: pairs with the release in call().
  [[nodiscard]] bool called() const { return word_.load(std::memory_order_acquire) == kCalled; }

  std::atomic<std::uint32_t> word_{kWaiting};
};

}  // namespace margay::sim
