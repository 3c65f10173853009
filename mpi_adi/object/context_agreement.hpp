// The agreement of processes on a pair of contexts that is free in each of them. Independent of the messages that carry
// it. Pure.
//
//   ContextAgreement agreement(pool, salt, blocking, generation);
//   do and_over_all_members(agreement.words()); while (!agreement.combined());
//   agreement.agreed()
//
// Agreements of one process overlap: several threads may make communicators at once, MPI_Comm_idup returns before its
// agreement ends, and other processes may begin the same agreements in another order. So an agreement reserves nothing
// while it waits for processes that may be in another agreement:
//   1. Each member offers its free pairs; the bitwise and of all members' words determines a candidate, which is the
//      same on all members.
//   2. Each member on which the candidate is still free reserves it. Then all members vote. All members are in this
//      agreement by now, so the votes do not wait for other agreements. If all members could reserve the pair, the
//      agreement ends; otherwise they release it and start again, with another candidate.
// If every member is only in this agreement and can enter no other meanwhile, the first round suffices.
#pragma once

#include <span>

#include "mpi_adi/object/communicator.hpp"
#include "mpi_adi/object/context_pool.hpp"

namespace margay::mpi_adi {

// One member's part of an agreement. Under the process lock. The caller carries the words between the members, by a
// collective call or by messages.
class ContextAgreement {
 public:
  // The generation that a member offers if another member determines it.
  static constexpr std::uint64_t kAnyGeneration = ~std::uint64_t{0};
  // `salt`: the same on all members, and different for agreements that may overlap. `blocking`: this process begins no
  // other agreement before this one ends (others may be under way). `generation`: one or a few members offer a number
  // of their own, all others kAnyGeneration; the bitwise and of all offers becomes the communicator's generation.
  ContextAgreement(ContextPool& pool, std::uint32_t salt, bool blocking, std::uint64_t generation);
  // If the agreement has not ended, releases its reservation.
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
  // All words of that round are offers; a round of votes has one word.
  void offer();
  // The two cases of combined(). offers_combined() evaluates offers, and starts the vote or ends. votes_combined()
  // evaluates votes, and ends or offers again.
  [[nodiscard]] bool offers_combined();
  [[nodiscard]] bool votes_combined();
  // A pair that is free in all offers, or -1.
  [[nodiscard]] int candidate(bool lowest) const;
  // Removes the agreement from the pool's counts. Called once.
  void end();

  // The index of a word: kYes if no member is in another agreement.
  static constexpr std::size_t kAlone = ContextPool::kWords;
  // The index of a word: kYes if no member has reserved a pair in another agreement.
  static constexpr std::size_t kNoneReserved = ContextPool::kWords + 1;
  static constexpr std::size_t kGeneration = ContextPool::kWords + 2;
  static constexpr std::size_t kOfferWords = ContextPool::kWords + 3;

  ContextPool& pool_;  // of this process; outlives the agreement
  // Salt and round number determine where the search for a candidate begins, so overlapping agreements seldom choose
  // the same pair.
  std::uint32_t salt_;
  bool blocking_;
  bool voting_ = false;    // the present round is a vote
  bool reserved_ = false;  // this agreement has reserved pair_
  bool over_ = false;      // end() was called
  std::uint32_t round_ = 0;
  int pair_ = -1;             // the latest candidate; -1: no pair is free on all members
  std::uint64_t generation_;  // this member's offer
  AgreedContext agreed_;
  // The words of the present round, and their number: those of an offer, or the one word of a vote.
  std::size_t count_ = kOfferWords;
  std::array<std::uint64_t, kOfferWords> words_{};
};

}  // namespace margay::mpi_adi
