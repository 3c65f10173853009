#include "mpi_adi/object/context_agreement.hpp"

#include <algorithm>
#include <bit>

namespace margay::mpi_adi {

namespace {

constexpr std::uint64_t kYes = ~std::uint64_t{0};

// Spreads concurrent agreements over the pairs, so that they seldom choose the same pair.
std::uint32_t mixed(std::uint32_t salt, std::uint32_t round) {
  std::uint32_t x = salt * 0x9e37'79b9U + round * 0x85eb'ca6bU + 1;
  x ^= x >> 16;
  x *= 0x7feb'352dU;
  return x ^ (x >> 15);
}

}  // namespace

ContextAgreement::ContextAgreement(ContextPool& pool, std::uint32_t salt, bool blocking, std::uint64_t generation)
    : pool_(pool), salt_(salt), blocking_(blocking), generation_(generation) {
  ++pool_.agreements_;
  offer();
}

ContextAgreement::~ContextAgreement() {
  if (over_) return;
  // The object is destroyed in the middle of a round if a peer is lost.
  if (reserved_) pool_.give_back(pair_);
  end();
}

void ContextAgreement::end() {
  if (reserved_) --pool_.reserved_;
  reserved_ = false;
  over_ = true;
  --pool_.agreements_;
}

void ContextAgreement::offer() {
  voting_ = false;
  count_ = kOfferWords;
  // Pairs whose hold has ended meanwhile can be offered, too.
  pool_.reclaim();
  std::copy(pool_.free().begin(), pool_.free().end(), words_.begin());
  // If this is the only agreement of the process and no other can begin, a reservation needs no vote.
  words_[kAlone] = blocking_ && pool_.agreements_ == 1 ? kYes : 0;
  words_[kNoneReserved] = pool_.reserved_ == 0 ? kYes : 0;
  words_[kGeneration] = generation_;
}

bool ContextAgreement::combined() {
  return voting_ ? votes_combined() : offers_combined();
}

bool ContextAgreement::offers_combined() {
  const bool alone = words_[kAlone] != 0;
  agreed_.generation = words_[kGeneration];
  pair_ = candidate(alone);
  ++round_;
  if (pair_ < 0) {
    // A pair that another agreement has reserved may become free again, so the members try again.
    if (words_[kNoneReserved] == 0) {
      offer();
      return false;
    }
    end();
    return true;
  }
  if (alone) {
    pool_.take(pair_);
    agreed_.context = 2 * pair_;
    end();
    return true;
  }
  // An agreement that overlaps may have taken the pair since the offer.
  reserved_ = pool_.is_free(pair_);
  if (reserved_) {
    pool_.take(pair_);
    ++pool_.reserved_;
  }
  voting_ = true;
  count_ = 1;
  words_[0] = reserved_ ? kYes : 0;
  return false;
}

bool ContextAgreement::votes_combined() {
  if (words_[0] != 0) {
    agreed_.context = 2 * pair_;
    end();
    return true;
  }
  // Not all members could reserve the pair, so no member may keep it.
  if (reserved_) {
    pool_.give_back(pair_);
    --pool_.reserved_;
    reserved_ = false;
  }
  offer();
  return false;
}

// The lowest free pair, or the first one from a position that salt and round choose.
int ContextAgreement::candidate(bool lowest) const {
  const std::size_t start = lowest ? 0 : mixed(salt_, round_) % ContextPool::kWords;
  for (std::size_t i = 0; i < ContextPool::kWords; ++i) {
    const std::size_t word = (start + i) % ContextPool::kWords;
    if (words_[word] == 0) continue;
    // Salt and round choose the first bit within the word, too.
    const int turn = lowest ? 0 : static_cast<int>(mixed(round_, salt_) % ContextPool::kPairsPerWord);
    const int bit =
        (std::countr_zero(std::rotr(words_[word], turn)) + turn) % static_cast<int>(ContextPool::kPairsPerWord);
    return static_cast<int>(word * ContextPool::kPairsPerWord) + bit;
  }
  return -1;
}

}  // namespace margay::mpi_adi
