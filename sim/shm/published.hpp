// A value (a pointer, a state, a truth) that one thread sets and others ask for: who gets it sees what was written
// before it was set. On x86 both are plain moves.
#pragma once

#include <atomic>

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

}  // namespace margay::sim
