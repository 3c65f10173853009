// The pairs of context identifiers that are free in a rank (paper 001, section 2: an identifier has 13 bits). The
// rank's Worlds owns the pool. Under the process lock.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "mpi_adi/object/communicator.hpp"

namespace margay::mpi_adi {

// The error message of an agreement if no pair is free on all members.
inline constexpr char kContextsUsedUp[] =
    "too many communicators are alive (4,096 contexts, none free on all members); free some first";

// A bitmap with a bit for each pair. A pair has the contexts 2 * pair, for point-to-point messages, and 2 * pair + 1,
// for collective calls.
class ContextPool {
 public:
  // Half the number of contexts, because a communicator has two.
  static constexpr int kPairs = 1 << (kContextBits - 1);
  static constexpr std::size_t kPairsPerWord = 64;
  static constexpr std::size_t kWords = kPairs / kPairsPerWord;

  // All pairs are free; Worlds takes the pairs of MPI_COMM_WORLD and MPI_COMM_SELF.
  ContextPool() { free_.fill(~std::uint64_t{0}); }

  // The free pairs, as agreements offer them: bit `pair % 64` of word `pair / 64`.
  [[nodiscard]] const std::array<std::uint64_t, kWords>& free() const { return free_; }
  // Requires for all of these: 0 <= pair < kPairs.
  [[nodiscard]] bool is_free(int pair) const { return (free_[at(pair)] & bit(pair)) != 0; }
  // take() marks a pair as used, give_back() as free. Neither tests the earlier state.
  void take(int pair) { free_[at(pair)] &= ~bit(pair); }
  void give_back(int pair) { free_[at(pair)] |= bit(pair); }
  // Makes the pair free after `hold` has ended; reclaim() tests that.
  void give_back_after(int pair, std::unique_ptr<ContextHold> hold) { held_.emplace_back(pair, std::move(hold)); }
  // Returns the pairs whose hold has ended. Called at the start of each agreement.
  void reclaim() {
    std::erase_if(held_, [this](const auto& held) {
      if (!held.second->over()) return false;
      give_back(held.first);
      return true;
    });
  }
  // Whether an agreement is under way in this process.
  [[nodiscard]] bool agreeing() const { return agreements_ != 0; }

 private:
  friend class ContextAgreement;
  // The word and the bit of a pair.
  [[nodiscard]] static std::size_t at(int pair) { return static_cast<std::size_t>(pair) / kPairsPerWord; }
  [[nodiscard]] static std::uint64_t bit(int pair) {
    return std::uint64_t{1} << (static_cast<std::size_t>(pair) % kPairsPerWord);
  }

  // A set bit is a free pair. An agreement's offer has the same form, so an offer is a copy.
  std::array<std::uint64_t, kWords> free_{};
  // Pairs that were returned, but whose hold has not ended.
  std::vector<std::pair<int, std::unique_ptr<ContextHold>>> held_;
  // Counted by ContextAgreement.
  int agreements_ = 0;  // under way in this process
  int reserved_ = 0;    // pairs that agreements have reserved while they vote
};

}  // namespace margay::mpi_adi
