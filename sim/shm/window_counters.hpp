// Counts of events between a window's processes, one for each other process: a target has exposed its window (post), an
// origin has finished with it (complete). Each window has, for each process, an array of counters of each kind; member
// i alone writes counter i of an array. The array's owner reads it and compares them with its own count of epochs.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "portals/base/assert.hpp"

namespace margay::sim {

// One array of counters, as its owner or another member sees it; all zero at first. Keeps no state. Counts are compared
// by their distance, so they may wrap.
class WindowCounters {
 public:
  // `counters`: one counter for each member of the window.
  explicit WindowCounters(std::span<std::uint32_t> counters) : counters_(counters) {}

  // Counts one more event by member `writer`. Called in its thread only; the caller rings the owner's bell.
  void publish(std::uint32_t writer) {
    MARGAY_ASSERT(writer < counters_.size());
    std::atomic_ref<std::uint32_t> counter(counters_[writer]);
    // Relaxed load: only this thread writes it. Release: pairs with the acquire in count(): a process that reads this
    // count sees what the writer did before: to the window, in an epoch that it completed; to its own memory, before an
    // epoch that it posted. Without it the owner could go on and read old elements.
    counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // The count of member `writer`; wraps.
  [[nodiscard]] std::uint32_t count(std::uint32_t writer) const {
    MARGAY_ASSERT(writer < counters_.size());
    // Acquire: pairs with the release in publish().
    return std::atomic_ref<std::uint32_t>(counters_[writer]).load(std::memory_order_acquire);
  }
  // Whether that count is at least `epochs`. Requires: the two never differ by 2^31.
  [[nodiscard]] bool has_reached(std::uint32_t writer, std::uint32_t epochs) const {
    return static_cast<std::int32_t>(count(writer) - epochs) >= 0;
  }

 private:
  // In the window's shared memory; not owned.
  std::span<std::uint32_t> counters_;
};

}  // namespace margay::sim
