// The order in which ranks run: a queue of ranks by the virtual time at which each continues.
#pragma once

#include <cstdint>
#include <queue>
#include <vector>

namespace margay::virtual_machine {

inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

// A rank is in the queue at most once. Ranks of one time run in the order of their insertion, so runs are repeatable.
class Schedule {
 public:
  explicit Schedule(std::uint32_t ranks) : due_ns_(ranks, kNever) {}

  // Makes `rank` continue at `at_ns`, or earlier if it is to continue earlier already.
  void add(std::uint32_t rank, std::uint64_t at_ns) {
    if (due_ns_[rank] <= at_ns) return;
    due_ns_[rank] = at_ns;
    entries_.push({at_ns, ++added_, rank});
  }
  // Removes a rank from the queue if it is there.
  void remove(std::uint32_t rank) { due_ns_[rank] = kNever; }
  // The time at which the next rank continues; kNever: the queue is empty.
  [[nodiscard]] std::uint64_t next_ns() {
    // An entry is void if its rank was removed, or if a later entry makes the rank continue earlier.
    while (!entries_.empty() && due_ns_[entries_.top().rank] != entries_.top().at_ns) entries_.pop();
    return entries_.empty() ? kNever : entries_.top().at_ns;
  }
  // Removes the next rank, and returns it. Requires: next_ns() != kNever.
  [[nodiscard]] std::uint32_t take() {
    const std::uint32_t rank = entries_.top().rank;
    entries_.pop();
    due_ns_[rank] = kNever;
    return rank;
  }

 private:
  struct Entry {
    std::uint64_t at_ns;
    std::uint64_t order;
    std::uint32_t rank;
    friend bool operator>(const Entry& a, const Entry& b) {
      return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.order > b.order;
    }
  };
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_;
  // By rank: the time at which it continues; kNever: it is not in the queue.
  std::vector<std::uint64_t> due_ns_;
  std::uint64_t added_ = 0;
};

}  // namespace margay::virtual_machine
