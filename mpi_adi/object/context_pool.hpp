// The pairs of context identifiers that are free in this process (paper 001, section 2: 13 bits), and whose turn it is
// to agree on one with other processes. Under the process lock.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "mpi_adi/object/communicator.hpp"

namespace margay::mpi_adi {

class ContextPool {
 public:
  static constexpr std::size_t kPairsPerWord = 64;
  static constexpr std::size_t kWords = (std::size_t{1} << (kContextBits - 1)) / kPairsPerWord;

  ContextPool() { free_.fill(~std::uint64_t{0}); }

  // A bit for each pair; the pair's contexts are twice its number, and one more.
  [[nodiscard]] const std::array<std::uint64_t, kWords>& free() const { return free_; }
  void take(int pair) { word(pair) &= ~bit(pair); }
  void give_back(int pair) { word(pair) |= bit(pair); }

  // An agreement under way on a communicator with `parent` as its context.
  class Turn {
   public:
    Turn(ContextPool& pool, ContextId parent) : pool_(pool), parent_(parent) { pool_.waiting_.push_back(parent); }
    ~Turn() { pool_.waiting_.erase(std::find(pool_.waiting_.begin(), pool_.waiting_.end(), parent_)); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Whether this agreement may offer what is free, in this round: nobody else does, and none has a lower parent.
    [[nodiscard]] bool begin() const {
      if (pool_.offered_ || *std::min_element(pool_.waiting_.begin(), pool_.waiting_.end()) != parent_) return false;
      pool_.offered_ = true;
      return true;
    }
    // After a round that began with true.
    void end() const { pool_.offered_ = false; }

   private:
    ContextPool& pool_;
    ContextId parent_;
  };

 private:
  [[nodiscard]] std::uint64_t& word(int pair) { return free_[static_cast<std::size_t>(pair) / kPairsPerWord]; }
  [[nodiscard]] static std::uint64_t bit(int pair) {
    return std::uint64_t{1} << (static_cast<std::size_t>(pair) % kPairsPerWord);
  }

  std::array<std::uint64_t, kWords> free_{};
  std::vector<ContextId> waiting_;  // parents of the agreements under way
  bool offered_ = false;            // one of them has its offer out
};

}  // namespace margay::mpi_adi
