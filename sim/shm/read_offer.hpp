// Offers of bodies for reading out of their sender's memory, and the reader's answers. A channel may have several
// offers at once, so that a reader that has finished one finds the next one. The sender could not make it meanwhile if
// it reads bodies itself, because it makes no offer between two bodies that it reads.
//
// Invariants
//  1. The producer writes an offer into the cell that announces it, and changes neither the table of pieces nor the
//     body until this offer is answered.
//  2. Both sides count the offers, from 1. The reader answers them in order, and each answer means that all offers
//     before it are over, so an answer may be overwritten by the next one before the producer sees it.
//  3. After an answer that requests the byte ring, the reader answers nothing until that body has arrived. So such an
//     answer is never overwritten unseen.
//
// The data is in cell_data.hpp. A role is process-local, and belongs to one thread at a time (under the process lock).
#pragma once

#include <atomic>
#include <cstdint>

#include "portals/base/assert.hpp"
#include "sim/shm/cell_data.hpp"

namespace margay::sim {

// The reader's answer to an offer, in the low bits of its word.
enum class ReadAnswer : std::uint64_t {
  // No answer yet.
  none = 0,
  // Read, or not wanted: the body's memory is the sender's own again.
  over = 1,
  // This body cannot be read: send it through the byte ring.
  cannot_now = 2,
  // No body of this sender can be read: send it, and all later ones, through the byte ring.
  cannot = 3,
};
static_assert(static_cast<std::uint64_t>(ReadAnswer::cannot) <= 3);  // beside the offer's number in one word

// The most offers that stand at once. A sender that reads bodies itself takes up to four in a round (kernel.hpp) before
// it offers again, so the offers last for two such rounds.
inline constexpr std::uint64_t kOffersMost = 8;

// The sender's role. Holds counts only; the offers themselves lie in cells.
class OfferProducer {
 public:
  explicit OfferProducer(const ConsumerLine& theirs) : theirs_(&theirs) {}

  // Continues the offers of an earlier sender. Requires: all of them have been answered.
  void resume() {
    // Acquire: pairs with the release in OfferConsumer::answer, as in refresh().
    answered_ = std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(theirs_->read_answer))
                    .load(std::memory_order_acquire) >>
                2;
    offered_ = over_ = answered_;
  }
  // Whether another offer may be made.
  [[nodiscard]] bool has_room() const { return offered_ - over_ < kOffersMost; }
  // The number of the next offer.
  [[nodiscard]] std::uint64_t next() const { return offered_ + 1; }
  // Makes the next offer. Its content is in its cell, whose release (CellProducer::publish) covers it. Requires:
  // has_room().
  void offer() {
    MARGAY_ASSERT(has_room());
    ++offered_;
  }
  // Whether any offer stands.
  [[nodiscard]] bool stands() const { return offered_ != over_; }
  // Number of the oldest standing offer. Requires: stands().
  [[nodiscard]] std::uint64_t oldest() const {
    MARGAY_ASSERT(stands());
    return over_ + 1;
  }
  // The answer to the oldest offer. Requires: stands().
  [[nodiscard]] ReadAnswer answer() {
    if (answered_ < oldest()) refresh();
    if (answered_ > oldest()) return ReadAnswer::over;
    return answered_ == oldest() ? what_ : ReadAnswer::none;
  }
  // Ends the oldest offer. Call it after the answer. If the answer requested the byte ring, call it after the body has
  // been sent through that ring.
  void end() {
    MARGAY_ASSERT(stands());
    ++over_;
  }
  // The consumer's preferences (body_methods.hpp). Relaxed: a hint, no other data is read because of it.
  [[nodiscard]] std::uint64_t preferences() const {
    return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(theirs_->preferences))
        .load(std::memory_order_relaxed);
  }
  // Grows while the consumer reads a body that takes several polls. Relaxed: a sign of life, nothing else.
  [[nodiscard]] std::uint64_t read_on() const {
    return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(theirs_->read_visits))
        .load(std::memory_order_relaxed);
  }

 private:
  void refresh() {
    // Acquire: pairs with the release in OfferConsumer::answer: the reader's last read of these bodies came before.
    // Without it the reader could still get the sender's next store into a body.
    const std::uint64_t word = std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(theirs_->read_answer))
                                   .load(std::memory_order_acquire);
    // A damaged word cannot answer an offer that was not made.
    if (word >> 2 > offered_) return;
    answered_ = word >> 2;
    what_ = static_cast<ReadAnswer>(word & 3);
  }

  // The reader's line, which has its answers.
  const ConsumerLine* theirs_;
  // Offers made, and offers that have ended; those between the two stand.
  std::uint64_t offered_ = 0;
  std::uint64_t over_ = 0;
  std::uint64_t answered_ = 0;  // as last seen
  // The answer to offer `answered_`.
  ReadAnswer what_ = ReadAnswer::none;
};

// The reader's role.
class OfferConsumer {
 public:
  explicit OfferConsumer(ConsumerLine& mine) : mine_(&mine) {}

  // Continues the answers of an earlier reader, which has answered all offers that it took.
  void resume() {
    // Acquire: pairs with the release in answer(), which the earlier reader executed. Relaxed: see read_on().
    number_ = std::atomic_ref<std::uint64_t>(mine_->read_answer).load(std::memory_order_acquire) >> 2;
    read_visits_ = std::atomic_ref<std::uint64_t>(mine_->read_visits).load(std::memory_order_relaxed);
  }
  // Takes the next offer, whose cell was seen. Returns its number.
  std::uint64_t take() { return ++number_; }
  // Answers the last offer taken.
  void answer(ReadAnswer what) {
    MARGAY_ASSERT(number_ != 0 && what != ReadAnswer::none);
    // Release: pairs with the acquire in OfferProducer::refresh, see there.
    std::atomic_ref<std::uint64_t>(mine_->read_answer)
        .store(number_ << 2 | static_cast<std::uint64_t>(what), std::memory_order_release);
  }
  // Reports that a part of the body of the last offer taken was read. Relaxed: see OfferProducer::read_on.
  void read_on() {
    std::atomic_ref<std::uint64_t>(mine_->read_visits).store(++read_visits_, std::memory_order_relaxed);
  }
  // Relaxed: see OfferProducer::preferences.
  void prefer(std::uint64_t preferences) {
    std::atomic_ref<std::uint64_t>(mine_->preferences).store(preferences, std::memory_order_relaxed);
  }

 private:
  // The line of this side, where it answers.
  ConsumerLine* mine_;
  // The number of the last offer taken; 0: none yet.
  std::uint64_t number_ = 0;
  // Polls that read a part of an offered body, ever.
  std::uint64_t read_visits_ = 0;
};

}  // namespace margay::sim
