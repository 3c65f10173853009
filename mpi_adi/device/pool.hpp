// A pool of reusable objects with stable addresses, each with an index. Once warm it allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

// The pool's part of a pooled object. Index and generation together name one use of the object: on the wire, in match
// bits, they replace an address, and an answer to an earlier use matches nothing.
struct Pooled {
  // Its place in the pool; constant, less than the number of objects ever made.
  std::uint32_t index = 0;
  // Number of uses so far; never 0 while in use. It wraps round after 2^32 uses.
  std::uint32_t generation = 0;
  // The mark that for_each_in_use() tests; take() and give_back() maintain it.
  bool in_use = false;
  void* next_free = nullptr;  // valid while it is free
};

// A pool of objects of one type. It owns them: each lives as long as the pool, in use or not. `Object` has a field
// `pooled`. Not thread-safe; a device's pools are used under the process lock. take() and give_back() cost a few loads
// and stores. When no object is free, take() allocates kChunk objects at once; memory is freed only with the pool.
//
//   Thing& thing = pool.take();  // as its last user left it: set every field
//   pool.give_back(thing);        // its address stays valid, its contents do not
template <typename Object>
class Pool {
 public:
  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Takes a free object, in the state in which its last user left it. `prepare(object)` is called once for each object,
  // when it is made. Throws std::bad_alloc when the pool must grow and cannot.
  template <typename Prepare>
  [[nodiscard]] Object& take(Prepare&& prepare) {
    if (free_ == nullptr) [[unlikely]]
      grow(prepare);
    Object& object = *free_;
    free_ = static_cast<Object*>(object.pooled.next_free);
    object.pooled.in_use = true;
    const std::uint32_t generation = object.pooled.generation + 1;
    // 0 names no use: match bits without an answer are 0.
    object.pooled.generation = generation != 0 ? generation : 1;
    ++in_use_;
    return object;
  }
  // For objects that need no preparation.
  [[nodiscard]] Object& take() {
    return take([](Object&) {});
  }
  // Returns an object. The next take() hands it out first.
  void give_back(Object& object) {
    // An object that is returned twice would be handed out twice.
    MARGAY_ASSERT(object.pooled.in_use);
    object.pooled.in_use = false;
    --in_use_;
    put(object);
  }

  // Number of objects in use.
  [[nodiscard]] std::uint64_t in_use() const { return in_use_; }
  // Visits each object in use. Costs a pass over all objects ever made, so it is for rare events and reports.
  template <typename Visit>
  void for_each_in_use(Visit&& visit) const {
    // Shares the traversal of any_in_use(). This visitor returns false, so the traversal never stops early.
    static_cast<void>(any_in_use([&](Object& object) {
      visit(object);
      return false;
    }));
  }
  // Whether `is` holds for any object in use; stops at the first.
  template <typename Is>
  [[nodiscard]] bool any_in_use(Is&& is) const {
    // Objects in use are in no list, so take() and give_back() pay nothing for this.
    for (const auto& chunk : chunks_) {
      for (std::size_t at = 0; at < kChunk; ++at) {
        if (chunk[at].pooled.in_use && is(chunk[at])) return true;
      }
    }
    return false;
  }

 private:
  // Objects in one allocation.
  static constexpr std::size_t kChunk = 64;

  // Puts an object on the free list.
  void put(Object& object) {
    object.pooled.next_free = free_;
    free_ = &object;
  }
  // Not inlined, so that the common path of take() keeps its registers. The lowest index is put last and taken first.
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

  // Chunks are never moved or freed before the pool, which keeps addresses stable.
  std::vector<std::unique_ptr<Object[]>> chunks_;
  Object* free_ = nullptr;  // last in, first out: its cache lines are likely still warm
  // The result of in_use(). Counted here, because a count over the chunks would cost a pass.
  std::uint64_t in_use_ = 0;
};

}  // namespace margay::mpi_adi
