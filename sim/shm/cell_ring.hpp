// A single-producer, single-consumer ring of 64-byte cells. The sequence number (the lap) travels in the cell, so
// handing a small message over costs the transfer of one cache line.
//
// Invariants
//  1. Cell i on lap n holds n + 1 (modulo 256) in its low byte once its message is in it; before, it holds n.
//  2. The low byte is written last, with the first word, by one store.
//  3. The producer never writes a cell that the consumer has not released: produced - consumed <= count. It counts
//     the cells that it knows to be free, and reads the consumer's line only when that credit is used up.
//  4. The consumer returns credit by quarters of the ring, and when it finds no more cells. So while the consumer is
//     behind, one read of its line gives the producer room for many messages, and at rest all credit has been returned.
//
// The data is in cell_data.hpp. A role is process-local, and belongs to one thread at a time (under the process lock).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "portals/base/assert.hpp"
#include "sim/shm/cache_hints.hpp"
#include "sim/shm/cell_data.hpp"

namespace margay::sim {

// The producer's role.
class CellProducer {
 public:
  // Touches no memory before the first use. Requires: the ring is fresh (all zero), and has no other producer.
  CellProducer(std::span<Cell> cells, const ConsumerLine& consumer)
      : cells_(cells), consumer_(&consumer), credit_(static_cast<std::uint32_t>(cells.size())) {
    MARGAY_ASSERT(!cells.empty());
  }

  // Continues the ring of an earlier producer. Requires: the consumer has returned all cells that were published.
  void resume() {
    // Acquire: pairs with the release in CellConsumer::announce, as in refresh().
    produced_ = std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(consumer_->cells_consumed))
                    .load(std::memory_order_acquire);
    slot_ = static_cast<std::uint32_t>(produced_ % cells_.size());
    lap_ = (produced_ / cells_.size() + 1) & 0xff;
  }
  // Whether a cell is free.
  [[nodiscard]] bool has_room() {
    if (credit_ != 0) [[likely]]
      return true;
    return refresh();
  }
  // The bytes of the next cell; the first eight go through publish(). Requires: has_room().
  [[nodiscard]] std::byte* cell() {
    MARGAY_DEBUG_ASSERT(credit_ != 0);
    return reinterpret_cast<std::byte*>(&cells_[slot_]);
  }
  // Hands the cell over to the consumer. Requires: the low byte of `first_word` is zero, because the lap goes there.
  void publish(std::uint64_t first_word) {
    MARGAY_ASSERT(credit_ != 0 && (first_word & 0xff) == 0);
    // Release: pairs with the acquire in CellConsumer::peek: a consumer that sees this lap sees the whole cell, and the
    // bytes in the byte ring that the cell announces. Without it, it could take a half-written message.
    std::atomic_ref<std::uint64_t>(cells_[slot_].words[0]).store(first_word | lap_, std::memory_order_release);
    ++produced_;
    --credit_;
    if (++slot_ == cells_.size()) slot_ = 0, lap_ = (lap_ + 1) & 0xff;
    // A processor's stores reach the cache in order, so all stores after those to a cell wait until the cell's line has
    // arrived. Without this prefetch, a sender that runs ahead of its receiver spends 40 % of its time in this wait.
    if (credit_ > kOwnAhead && slot_ + kOwnAhead < cells_.size()) [[likely]]
      own_lines(std::as_writable_bytes(cells_.subspan(slot_ + kOwnAhead, 1)));
  }

 private:
  // The distance of the prefetched cell: far enough for its line to arrive in time, and beyond the cells that a
  // receiver close behind polls. Millions of messages a second with distances of 0, 6 and 12: 8 bytes 9.5, 10.8, 10.7;
  // 64 bytes 8.8, 8.6, 11.4.
  static constexpr std::uint32_t kOwnAhead = 12;

  // Reads the consumer's count, and computes the credit from it; true: a cell is free. Costs a cache miss, about once
  // for each quarter of the ring.
  bool refresh() {
    // Acquire: pairs with the release in CellConsumer::announce: the consumer's reads of the cells that it returned are
    // complete. Without it we could overwrite a cell that is still being read.
    const std::uint64_t consumed = std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(consumer_->cells_consumed))
                                       .load(std::memory_order_acquire);
    const std::uint64_t held = produced_ - consumed;
    // The count comes from the other process, so it is checked: `held` above the number of cells means damage.
    credit_ = held <= cells_.size() ? static_cast<std::uint32_t>(cells_.size() - held) : 0;
    return credit_ != 0;
  }

  // The ring's cells, in the node's segment; this role does not own them.
  std::span<Cell> cells_;
  const ConsumerLine* consumer_;
  // Cells published since the beginning.
  std::uint64_t produced_ = 0;
  std::uint64_t lap_ = 1;
  // The next cell to be written.
  std::uint32_t slot_ = 0;
  // Cells known to be free.
  std::uint32_t credit_;
};

// The consumer's role.
class CellConsumer {
 public:
  // Requires: the ring is fresh, and has no other consumer.
  CellConsumer(std::span<Cell> cells, ConsumerLine& consumer) : cells_(cells), consumer_(&consumer) {}

  // Continues the ring of an earlier consumer, after the cells that it has returned.
  void resume() {
    // Acquire: pairs with the release in announce(), which the earlier consumer executed.
    consumed_ = std::atomic_ref<std::uint64_t>(consumer_->cells_consumed).load(std::memory_order_acquire);
    slot_ = static_cast<std::uint32_t>(consumed_ % cells_.size());
    lap_ = (consumed_ / cells_.size() + 1) & 0xff;
  }
  // Whether the next cell holds a message; `first_word` is then its first word, without the lap.
  [[nodiscard]] bool peek(std::uint64_t& first_word) const {
    // Acquire: pairs with the release in CellProducer::publish, see there.
    const std::uint64_t word = std::atomic_ref<std::uint64_t>(cells_[slot_].words[0]).load(std::memory_order_acquire);
    first_word = word & ~std::uint64_t{0xff};
    return (word & 0xff) == lap_;
  }
  // Whether the next cell seems to hold a message: a hint. Relaxed: no other data is read because of it.
  [[nodiscard]] bool has_next() const {
    const std::uint64_t word = std::atomic_ref<std::uint64_t>(cells_[slot_].words[0]).load(std::memory_order_relaxed);
    return (word & 0xff) == lap_;
  }
  // The bytes of the cell that peek() found; bytes 0-7 are the first word. Valid until release().
  [[nodiscard]] std::byte* cell() const { return reinterpret_cast<std::byte*>(&cells_[slot_]); }
  // Returns the cell to the producer, at once or with later ones. True: all consumed cells were returned now. Requires:
  // peek() found it.
  bool release() {
    ++consumed_;
    if (++slot_ == cells_.size()) slot_ = 0, lap_ = (lap_ + 1) & 0xff;
    // While this side is behind, the cells ahead are written, so their lines are prefetched during the work on this
    // one. Otherwise they are not prefetched, because the producer is about to write them.
    if (behind_ && slot_ + kAhead < cells_.size()) __builtin_prefetch(&cells_[slot_ + kAhead]);
    behind_ = true;
    return ++unannounced_ > cells_.size() / 4 && announce();
  }
  // Returns the credit that release() kept back; called when the ring is drained. True: there was some.
  bool settle() {
    behind_ = false;
    return unannounced_ != 0 && announce();
  }

 private:
  // Cells between the one that is processed and the one that is prefetched.
  static constexpr std::uint32_t kAhead = 2;

  // Publishes the credit of all consumed cells; returns true, because the producer can see it now.
  bool announce() {
    unannounced_ = 0;
    // Release: pairs with the acquire in CellProducer::refresh, see there.
    std::atomic_ref<std::uint64_t>(consumer_->cells_consumed).store(consumed_, std::memory_order_release);
    return true;
  }

  // As in CellProducer.
  std::span<Cell> cells_;
  ConsumerLine* consumer_;
  // Cells consumed since the beginning.
  std::uint64_t consumed_ = 0;
  std::uint64_t lap_ = 1;
  // The next cell to be read.
  std::uint32_t slot_ = 0;
  // Consumed cells that have not been returned.
  std::uint32_t unannounced_ = 0;
  // A cell was released since the last settle().
  bool behind_ = false;
};

}  // namespace margay::sim
