// A pointer that one thread sets and others ask for: who gets it sees what was written before it was set.
#pragma once

#include <atomic>

namespace margay::sim {

template <typename T>
class Published {
 public:
  // Release: pairs with the acquire in get(), which could else lead to fields that are not written yet.
  void set(T* value) { value_.store(value, std::memory_order_release); }
  // Acquire: pairs with the release in set().
  [[nodiscard]] T* get() const { return value_.load(std::memory_order_acquire); }

 private:
  std::atomic<T*> value_{nullptr};
};

}  // namespace margay::sim
