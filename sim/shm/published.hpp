// Values that one thread publishes to others. A reader of the value sees everything that was written before it was set.
// On x86 setting and reading are plain moves.
#pragma once

#include <sched.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "portals/base/assert.hpp"

namespace margay::sim {

// A value in process memory, with one writer and any number of readers. Readers poll it; setting it wakes no thread.
template <typename T>
class Published {
 public:
  constexpr Published() = default;
  constexpr explicit Published(T value) : value_(value) {}
  // Not copyable, as std::atomic.
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  // Release: pairs with the acquire in get(), which could otherwise lead to fields that are not written yet.
  void set(T value) { value_.store(value, std::memory_order_release); }
  // Acquire: pairs with the release in set().
  [[nodiscard]] T get() const { return value_.load(std::memory_order_acquire); }

 private:
  // With another type, set() and get() would take a hidden lock.
  static_assert(std::atomic<T>::is_always_lock_free);
  std::atomic<T> value_{};
};

// The first of several threads that reach the same place.
class FirstThread {
 public:
  constexpr FirstThread() = default;
  // Returns 0 to the first caller, and the number of the first caller to the later ones, which may be the same thread.
  // `thread`: gettid() of the calling thread. Safe in signal handlers.
  [[nodiscard]] std::int32_t claim(std::int32_t thread) {
    std::int32_t first = 0;
    // Relaxed, with no partner: only the number itself is read.
    value_.compare_exchange_strong(first, thread, std::memory_order_relaxed);
    return first;
  }

 private:
  std::atomic<std::int32_t> value_{0};
};

// The same as Published for a number in memory that processes share, which is zero before it is set. Release: pairs
// with the acquire in published_number(): a process that gets the number sees what was written before.
inline void publish_number(std::uint32_t& number, std::uint32_t value) {
  std::atomic_ref<std::uint32_t>(number).store(value, std::memory_order_release);
}
// Acquire: pairs with the release in publish_number(): later reads are not older than the number.
[[nodiscard]] inline std::uint32_t published_number(std::uint32_t& number) {
  return std::atomic_ref<std::uint32_t>(number).load(std::memory_order_acquire);
}

// Data in shared memory that is written once and then only read. kBeingWritten marks it meanwhile.

inline constexpr std::uint64_t kBeingWritten = 1;

// The bounds of a wait for a first caller that may have died while writing: yields, each of which may be a turn of
// every busy program, and then naps of a millisecond.
inline constexpr int kPublishYields = 128;
inline constexpr int kPublishNaps = 2000;

// The first caller of all processes runs `write` and then sets `word` (zero before) to `value`; the others wait for
// that. Returns 0 to the first caller, and the content of `word` to the others: `value`, unless another value was there
// or the first caller died while writing. Requires: value is neither 0 nor kBeingWritten.
template <typename Write>
[[nodiscard]] std::uint64_t publish_once(std::uint64_t& word, std::uint64_t value, Write write) {
  MARGAY_ASSERT(value != 0 && value != kBeingWritten);
  std::atomic_ref<std::uint64_t> state(word);
  std::uint64_t seen = 0;
  // Acquire on failure: pairs with the release below: a process that sees `value` sees everything that `write` wrote.
  if (state.compare_exchange_strong(seen, kBeingWritten, std::memory_order_acquire, std::memory_order_acquire)) {
    write();
    // Release: pairs with the acquires of the others, which could otherwise read fields that are still zero.
    state.store(value, std::memory_order_release);
    return 0;
  }
  constexpr timespec kNap{0, 1'000'000};
  for (int looks = 0; seen == kBeingWritten && looks < kPublishYields + kPublishNaps; ++looks) {
    looks < kPublishYields ? ::sched_yield() : ::nanosleep(&kNap, nullptr);
    seen = state.load(std::memory_order_acquire);  // pairs with the release above
  }
  return seen;
}

// Takes `number` if it is 0: among all callers, in any process, one succeeds. Returns 0 to that one, and the
// holder to the others. Requires: who != 0.
[[nodiscard]] inline std::int32_t claim_for_process(std::int32_t& number, std::int32_t who) {
  MARGAY_ASSERT(who != 0);
  std::int32_t holder = 0;
  // Relaxed: no other data is published with it, and the exchange alone lets one succeed.
  std::atomic_ref<std::int32_t>(number).compare_exchange_strong(holder, who, std::memory_order_relaxed);
  return holder;
}

// Returns the first answer that any caller, in any process, finds: all callers get the same one. Calls `find()` if
// there is no answer yet. If find() returns 0, the result is 0, and the next caller tries again.
template <typename Find>
[[nodiscard]] std::uint32_t answer_once(std::uint32_t& word, Find find) {
  std::atomic_ref<std::uint32_t> answer(word);
  // Relaxed, both: no other data is published with the answer, and the exchange lets one succeed.
  std::uint32_t seen = answer.load(std::memory_order_relaxed);
  if (seen != 0) return seen;
  const std::uint32_t found = find();
  if (found == 0) return 0;
  return answer.compare_exchange_strong(seen, found, std::memory_order_relaxed) ? found : seen;
}

// A flag that its writer sets once and others poll.
inline void set_flag(std::uint8_t& flag) {
  // Release: pairs with flag_set: what the writer wrote before is seen. Readers then poll structures that have memory
  // orders of their own.
  std::atomic_ref<std::uint8_t>(flag).store(1, std::memory_order_release);
}
// Whether the flag is set.
[[nodiscard]] inline bool flag_set(const std::uint8_t& flag) {
  // Acquire: pairs with set_flag.
  return std::atomic_ref<std::uint8_t>(const_cast<std::uint8_t&>(flag)).load(std::memory_order_acquire) != 0;
}

// Counts flags that were set; the reader scans for new ones when the count has grown.
inline void count_flag(std::uint32_t& count) {
  // Release: pairs with read_published; the flag set before is seen with the count.
  std::atomic_ref<std::uint32_t>(count).fetch_add(1, std::memory_order_release);
}

// A word that one side publishes after other fields.
inline void publish(std::uint32_t& word, std::uint32_t value) {
  // Release: pairs with read_published; the fields written before are seen with the word.
  std::atomic_ref<std::uint32_t>(word).store(value, std::memory_order_release);
}
// The word as last published; what was written before it is visible afterwards.
[[nodiscard]] inline std::uint32_t read_published(const std::uint32_t& word) {
  // Acquire: pairs with publish.
  return std::atomic_ref<std::uint32_t>(const_cast<std::uint32_t&>(word)).load(std::memory_order_acquire);
}

}  // namespace margay::sim
