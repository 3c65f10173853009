// The processors on which the ranks of one host run: a word for each rank, in memory that all of them map. A rank
// writes its own word while it waits, so the word of a computing rank may be old.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "portals/base/assert.hpp"

namespace margay::sim {

// One rank's view. Used by its owner thread.
class RankProcessors {
 public:
  // The result of other_on() without a rank.
  static constexpr std::size_t kNoRank = std::numeric_limits<std::size_t>::max();

  // Without words: nothing is published, and other_on() never finds a rank.
  RankProcessors() = default;
  // words[i] is rank i's, zero at first, and `mine` is the index of this rank's. The words outlive this object.
  RankProcessors(std::vector<std::uint32_t*> words, std::size_t mine) : words_(std::move(words)), mine_(mine) {
    MARGAY_ASSERT(words_.empty() || mine_ < words_.size());
  }

  // This rank's index.
  [[nodiscard]] std::size_t mine() const { return mine_; }

  // Publishes that this rank runs on `processor`. Stores only a new value.
  void runs_on(std::uint32_t processor) { write(processor + 1); }
  // Publishes that this rank needs no processor, because it sleeps or its part in the job is over.
  void needs_none() { write(kNone); }

  // Another rank that was last seen on `processor` and needs it: the first one after this rank in cyclic order.
  // kNoRank: none. Linear in the ranks.
  [[nodiscard]] std::size_t other_on(std::uint32_t processor) const {
    for (std::size_t i = 1; i < words_.size(); ++i) {
      const std::size_t rank = mine_ + i < words_.size() ? mine_ + i : mine_ + i - words_.size();
      if (read(rank) == processor + 1) return rank;
    }
    return kNoRank;
  }

 private:
  // A word holds the processor's number plus 1, because fresh memory is zero.
  static constexpr std::uint32_t kNone = 0;

  // Relaxed: it decides only which rank yields; no other data is published by it.
  [[nodiscard]] std::uint32_t read(std::size_t rank) const {
    return std::atomic_ref<std::uint32_t>(*words_[rank]).load(std::memory_order_relaxed);
  }
  // Stores a word that has changed. Most calls find the same processor, so the line stays shared among the readers.
  void write(std::uint32_t word) {
    if (words_.empty() || word == written_) return;
    written_ = word;
    // Relaxed: as in read().
    std::atomic_ref<std::uint32_t>(*words_[mine_]).store(word, std::memory_order_relaxed);
  }

  // By rank; empty: nothing is published. In memory of the job board or of the node's segment.
  std::vector<std::uint32_t*> words_;
  // The index of the only word that this rank writes.
  std::size_t mine_ = 0;
  // The last value stored, which is not stored again.
  std::uint32_t written_ = kNone;
};

}  // namespace margay::sim
