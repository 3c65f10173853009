// The order in which ranks run: a queue of ranks by the virtual time at which each continues.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace margay::virtual_machine {

// The time of an event that does not happen.
inline constexpr std::uint64_t kNever = ~std::uint64_t{0};

// The queue. A rank is in it at most once. Ranks of one time run in the order of their insertion, or in another order
// for each seed but 0; so runs are repeatable.
class Schedule {
 public:
  explicit Schedule(std::uint32_t ranks, std::uint64_t seed = 0) : due_ns_(ranks, kNever), seed_(seed) {}

  // Makes `rank` continue at `at_ns`, or earlier if it is to continue earlier already.
  void add(std::uint32_t rank, std::uint64_t at_ns) {
    if (due_ns_[rank] <= at_ns) return;
    due_ns_[rank] = at_ns;
    ++added_;
    entries_.push({at_ns, seed_ == 0 ? added_ : mix(added_ + seed_), rank});
  }
  // Removes a rank from the queue. No effect if it is not in the queue.
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
  // `order` decides between entries of one time.
  struct Entry {
    std::uint64_t at_ns;
    std::uint64_t order;
    std::uint32_t rank;
    friend bool operator>(const Entry& a, const Entry& b) {
      return a.at_ns != b.at_ns ? a.at_ns > b.at_ns : a.order > b.order;
    }
  };
  // The finalizer of splitmix64: a permutation of 64 bits, so orders differ as their arguments do.
  [[nodiscard]] static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58'476d'1ce4'e5b9;
    z = (z ^ (z >> 27)) * 0x94d0'49bb'1331'11eb;
    return z ^ (z >> 31);
  }

  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> entries_;
  // By rank: the time at which it continues; kNever: it is not in the queue.
  std::vector<std::uint64_t> due_ns_;
  const std::uint64_t seed_;
  // The number of entries so far.
  std::uint64_t added_ = 0;
};

}  // namespace margay::virtual_machine
