// A value (a pointer, a state, a truth) that one thread sets and others ask for: who gets it sees what was written
// before it was set. On x86 both are plain moves.
#pragma once

#include <atomic>
#include <cstdint>

namespace margay::sim {

template <typename T>
class Published {
 public:
  constexpr Published() = default;
  constexpr explicit Published(T value) : value_(value) {}
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  // Release: pairs with the acquire in get(), which could else lead to fields that are not written yet.
  void set(T value) { value_.store(value, std::memory_order_release); }
  // Acquire: pairs with the release in set().
  [[nodiscard]] T get() const { return value_.load(std::memory_order_acquire); }

 private:
  static_assert(std::atomic<T>::is_always_lock_free);
  std::atomic<T> value_{};
};

// The same for a number in memory that processes share, which is zero before it is set.
// Release: pairs with the acquire in published_number(); what was written before is seen by who gets it.
inline void publish_number(std::uint32_t& place, std::uint32_t value) {
  std::atomic_ref<std::uint32_t>(place).store(value, std::memory_order_release);
}
// Acquire: pairs with the release in publish_number(); what is read afterwards is not older than the number.
[[nodiscard]] inline std::uint32_t published_number(std::uint32_t& place) {
  return std::atomic_ref<std::uint32_t>(place).load(std::memory_order_acquire);
}

}  // namespace margay::sim
