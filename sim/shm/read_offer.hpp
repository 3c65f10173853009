// A body offered for reading out of its sender's memory: the sender's word that it stands, the reader's word that it is
// over. One offer of a channel at a time.
//
// Invariants
//  1. The producer writes the offer before it publishes the cell that announces it, and leaves it, the table of pieces
//     and the body alone until the answer to this very offer is there.
//  2. Every offer has its own odd number; an answer carries it, so an old answer answers nothing.
//
// The data is in cell_data.hpp. A role is process-local, belongs to one thread at a time (under the process lock).
#pragma once

#include <atomic>
#include <cstdint>

#include "sim/shm/cell_data.hpp"

namespace margay::sim {

// What the reader says of an offer, in the low bits of its answer.
enum class ReadAnswer : std::uint64_t {
  none = 0,        // nothing yet
  over = 1,        // read, or not wanted: the body's memory is the sender's own again
  cannot_now = 2,  // this body cannot be read: send it through the byte ring
  cannot = 3,      // no body of this sender can be read: send it, and all later ones, through the byte ring
};

class OfferProducer {
 public:
  OfferProducer(ReadOffer& mine, const ConsumerLine& theirs) : mine_(&mine), theirs_(&theirs) {}

  // Plain stores: the release of the announcing cell (CellProducer::publish) covers them.
  void offer(std::uint64_t address, std::uint64_t count, std::uint64_t bytes) {
    number_ += 2;
    mine_->address = address;
    mine_->count = count;
    mine_->bytes = bytes;
    mine_->number = number_;
  }
  // Of the offer that stands.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] ReadAnswer answer() const {
    // Acquire: pairs with the release in OfferConsumer::answer: the reader's last read of the body came before. Without
    // it the sender's next store into the body could be what the reader still gets.
    const std::uint64_t word = std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(theirs_->read_answer))
                                   .load(std::memory_order_acquire);
    return word >> 2 == number_ ? static_cast<ReadAnswer>(word & 3) : ReadAnswer::none;
  }
  // What the consumer prefers (body_ways.hpp). Relaxed: a hint, nothing is read on the strength of it.
  [[nodiscard]] std::uint64_t preferences() const {
    return std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(theirs_->preferences))
        .load(std::memory_order_relaxed);
  }
  // After the answer: the offer no longer stands.
  void withdraw() { mine_->number = 0; }

 private:
  ReadOffer* mine_;
  const ConsumerLine* theirs_;
  std::uint64_t number_ = ~std::uint64_t{0};  // of the last offer; the first is 1
};

class OfferConsumer {
 public:
  OfferConsumer(const ReadOffer& theirs, ConsumerLine& mine) : theirs_(&theirs), mine_(&mine) {}

  // A copy of what stands: nothing that the other process changes later is used unchecked. Requires: the announcing
  // cell was seen (its acquire covers these reads) and not answered.
  [[nodiscard]] ReadOffer take() {
    const ReadOffer copy = *theirs_;
    number_ = copy.number;
    return copy;
  }
  // Relaxed: see OfferProducer::preferences.
  void prefer(std::uint64_t preferences) {
    std::atomic_ref<std::uint64_t>(mine_->preferences).store(preferences, std::memory_order_relaxed);
  }
  void answer(ReadAnswer what) {
    // Release: pairs with the acquire in OfferProducer::answer, see there.
    std::atomic_ref<std::uint64_t>(mine_->read_answer)
        .store(number_ << 2 | static_cast<std::uint64_t>(what), std::memory_order_release);
  }

 private:
  const ReadOffer* theirs_;
  ConsumerLine* mine_;
  std::uint64_t number_ = 0;
};

}  // namespace margay::sim
