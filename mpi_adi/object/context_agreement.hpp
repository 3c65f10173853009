// The agreement of processes on a pair of contexts that is free in all of them, independent of the messages that carry
// it. Pure.
//
//   ContextAgreement agreement(pool, salt, alone, generation);
//   do and_over_all_members(agreement.words()); while (!agreement.combined());
//   agreement.agreed()
//
// Agreements of one process overlap: threads make communicators at once, MPI_Comm_idup returns before its agreement
// ends, and other processes may reach the same agreements in another order. So an agreement reserves nothing while it
// waits for processes that may be busy with another one:
//   1. Each member offers its free pairs; the bitwise and of all words determines a candidate, the same on all members.
//   2. Each member that still has the candidate reserves it, and votes. All members are in this agreement by now, so
//      the votes need no other agreement's progress. If all could reserve it, the pair is theirs; otherwise they
//      release it and start again, with another candidate.
// If every member is in this agreement only and can enter no other meanwhile, the first round is enough.
#pragma once

#include <span>

#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/context_pool.hpp"

namespace margay::mpi_adi {

// One member's part of an agreement. Under the process lock. The caller carries the words between the members, by a
// collective call or by messages.
class ContextAgreement {
 public:
  // The offer of a member that leaves the generation to another one.
  static constexpr std::uint64_t kAnyGeneration = ~std::uint64_t{0};
  // `salt`: the same on all members, and different for agreements that may overlap. `blocking`: this process enters no
  // other agreement before this one ends (others may be under way). `generation`: a number of its own from one or a few
  // members, kAnyGeneration from the others; the bitwise and of all becomes the communicator's.
  ContextAgreement(ContextPool& pool, std::uint32_t salt, bool blocking, std::uint64_t generation);
  // An agreement that has not ended releases its reservation.
  ~ContextAgreement();
  ContextAgreement(const ContextAgreement&) = delete;
  ContextAgreement& operator=(const ContextAgreement&) = delete;

  // This process's words of the present round. The caller replaces them by the bitwise and of all members' words.
  [[nodiscard]] std::span<std::uint64_t> words() { return {words_.data(), count_}; }
  // Evaluates the combined words. True: the agreement has ended; false: another round.
  [[nodiscard]] bool combined();
  // The result; its pair is taken from the pool. Requires: combined() returned true.
  [[nodiscard]] const AgreedContext& agreed() const { return agreed_; }

 private:
  // Starts a round of offers.
  // In the next round all words are offers; a vote is one word.
  void offer();
  // The two kinds of combined(): evaluate offers, and start the vote or end; evaluate votes, and end or offer again.
  [[nodiscard]] bool offers_combined();
  [[nodiscard]] bool votes_combined();
  // A pair that is free in all offers, or -1.
  [[nodiscard]] int candidate(bool lowest) const;
  // Ends the agreement's part in the pool's counts. Called once.
  void end();

  // The index of a word: yes if all members are in no other agreement.
  static constexpr std::size_t kAlone = ContextPool::kWords;
  // The index of a word: yes if no member has a pair reserved by another agreement.
  static constexpr std::size_t kNoneReserved = ContextPool::kWords + 1;
  static constexpr std::size_t kGeneration = ContextPool::kWords + 2;
  static constexpr std::size_t kOfferWords = ContextPool::kWords + 3;

  ContextPool& pool_;
  // With the round's number it chooses where the search for a candidate begins, so overlapping agreements seldom meet.
  std::uint32_t salt_;
  bool blocking_;
  bool voting_ = false;    // the present round is a vote
  bool reserved_ = false;  // this agreement has reserved pair_
  bool over_ = false;
  std::uint32_t round_ = 0;
  int pair_ = -1;
  std::uint64_t generation_;  // this member's offer
  AgreedContext agreed_;
  std::size_t count_ = kOfferWords;
  std::array<std::uint64_t, kOfferWords> words_{};
};

}  // namespace margay::mpi_adi
