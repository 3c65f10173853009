// Objects that are used again: stable addresses, a number each, no allocation once warm.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

// What a pooled object carries for its pool.
struct Pooled {
  std::uint32_t index = 0;       // in its pool; constant
  std::uint32_t generation = 0;  // how often it was taken
  bool in_use = false;
  void* next_free = nullptr;  // while it is not
};

template <typename Object>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // A free object as its last user left it. `prepare(object)` is called once for each object ever made.
  template <typename Prepare>
  [[nodiscard]] Object& take(Prepare&& prepare) {
    if (free_ == nullptr) [[unlikely]]
      grow(prepare);
    Object& object = *free_;
    free_ = static_cast<Object*>(object.pooled.next_free);
    object.pooled.in_use = true;
    const std::uint32_t generation = object.pooled.generation + 1;
    object.pooled.generation = generation != 0 ? generation : 1;  // 0 names no use
    ++in_use_;
    return object;
  }
  [[nodiscard]] Object& take() {
    return take([](Object&) {});
  }
  void give_back(Object& object) {
    MARGAY_ASSERT(object.pooled.in_use);
    object.pooled.in_use = false;
    --in_use_;
    put(object);
  }

  [[nodiscard]] std::uint64_t in_use() const { return in_use_; }
  template <typename Visit>
  void for_each_in_use(Visit&& visit) const {
    static_cast<void>(any_in_use([&](Object& object) {
      visit(object);
      return false;
    }));
  }
  // Stops at the first one that `is` holds of.
  template <typename Is>
  [[nodiscard]] bool any_in_use(Is&& is) const {
    for (const auto& chunk : chunks_) {
      for (std::size_t at = 0; at < kChunk; ++at) {
        if (chunk[at].pooled.in_use && is(chunk[at])) return true;
      }
    }
    return false;
  }

 private:
  static constexpr std::size_t kChunk = 64;

  void put(Object& object) {
    object.pooled.next_free = free_;
    free_ = &object;
  }
  // Not inlined: what is rare must not cost what is common its registers.
  template <typename Prepare>
  [[gnu::noinline]] void grow(Prepare& prepare) {
    auto& chunk = chunks_.emplace_back(new Object[kChunk]);
    for (std::size_t at = kChunk; at > 0; --at) {
      Object& object = chunk[at - 1];
      object.pooled.index = static_cast<std::uint32_t>((chunks_.size() - 1) * kChunk + at - 1);
      prepare(object);
      put(object);
    }
  }

  std::vector<std::unique_ptr<Object[]>> chunks_;
  Object* free_ = nullptr;  // the latest first: its lines are likely still in the cache
  std::uint64_t in_use_ = 0;
};

}  // namespace margay::mpi_adi
