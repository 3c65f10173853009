// How processes agree on a pair of contexts that is free in all of them, whatever carries their words. Pure.
//
//   ContextAgreement agreement(pool, salt, alone, generation);
//   do and_over_all_members(agreement.words()); while (!agreement.combined());
//   agreement.agreed()
//
// Agreements of one process overlap: threads make communicators at once, MPI_Comm_idup returns before it is over, and
// other processes may come to the same agreements in another order. So none holds anything while it waits for
// processes that may be busy with another one:
//   1. Each member says what is free with it; the bitwise and of all words names a candidate, the same to all.
//   2. Each member that still has the candidate reserves it and says so. All of them are in this agreement now, so the
//      answer needs nobody else's doing. If all could, the pair is theirs; else they let it go and begin again, with
//      another candidate.
// Where every member is in this one agreement and can enter no other meanwhile, the first round is enough.
#pragma once

#include <span>

#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/context_pool.hpp"

namespace margay::mpi_adi {

class ContextAgreement {
 public:
  // What a member says who leaves the generation to another one.
  static constexpr std::uint64_t kAnyGeneration = ~std::uint64_t{0};
  // `salt`: the same for all members, another for each agreement that may go on at once. `blocking`: this process
  // enters no other agreement before this one is over (others may be under way). `generation`: of one or a few members
  // a number of their own, of the others kAnyGeneration; the bitwise and of all is the communicator's.
  ContextAgreement(ContextPool& pool, std::uint32_t salt, bool blocking, std::uint64_t generation);
  // One that has not come to its end leaves no trace.
  ~ContextAgreement();
  ContextAgreement(const ContextAgreement&) = delete;
  ContextAgreement& operator=(const ContextAgreement&) = delete;

  // This process's words of the round, to become the bitwise and of all members'.
  [[nodiscard]] std::span<std::uint64_t> words() { return {words_.data(), count_}; }
  // They have. true: over; false: another round.
  [[nodiscard]] bool combined();
  // Of which the pair is taken from the pool. Requires: over.
  [[nodiscard]] const AgreedContext& agreed() const { return agreed_; }

 private:
  void offer();
  [[nodiscard]] bool offers_combined();
  [[nodiscard]] bool votes_combined();
  [[nodiscard]] int candidate(bool lowest) const;
  void end();

  static constexpr std::size_t kAlone = ContextPool::kWords;             // all members are in no other agreement
  static constexpr std::size_t kNoneReserved = ContextPool::kWords + 1;  // no member holds a pair for another one
  static constexpr std::size_t kGeneration = ContextPool::kWords + 2;
  static constexpr std::size_t kOfferWords = ContextPool::kWords + 3;

  ContextPool& pool_;
  std::uint32_t salt_;
  bool blocking_;
  bool voting_ = false;
  bool reserved_ = false;  // pair_, by this agreement
  bool over_ = false;
  std::uint32_t round_ = 0;
  int pair_ = -1;
  std::uint64_t generation_;  // this member's offer
  AgreedContext agreed_;
  std::size_t count_ = kOfferWords;
  std::array<std::uint64_t, kOfferWords> words_{};
};

}  // namespace margay::mpi_adi
