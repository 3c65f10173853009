// A single-producer, single-consumer ring of bytes, for bodies that do not fit their cell. Small enough to stay in the
// caches; both sides copy at once, chunk by chunk.
//
// Invariants
//  1. consumed <= announced <= produced <= consumed + size; all count bytes since the beginning. Bytes are announced by
//     publish(), or by a cell.
//  2. A body that was put here whole before its cell announces it needs no publish(): the cell's release store covers
//     it, and the consumer expect()s it. The producer's line is touched only for bodies that stream.
//  3. Each side reads the other's line only when its known credit or bytes are used up.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "portals/base/assert.hpp"
#include "portals/base/region.hpp"
#include "sim/shm/cell_data.hpp"

namespace margay::sim {

// The producer's role: process-local state, one thread at a time.
class ByteProducer {
 public:
  // Touches no memory before the first use. Requires: bytes.size() is a power of two.
  ByteProducer(std::span<std::byte> bytes, ProducerLine& mine, const ConsumerLine& theirs)
      : bytes_(bytes), mine_(&mine), theirs_(&theirs), credit_(bytes.size()) {
    MARGAY_ASSERT(!bytes.empty() && (bytes.size() & (bytes.size() - 1)) == 0);
  }

  // Continues the ring of an earlier producer. Requires: the consumer has returned all bytes that were produced.
  void resume() {
    // Acquire: pairs with the release in ByteConsumer::settle: the earlier consumer's reads of these bytes are
    // complete.
    produced_ = std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(theirs_->bytes_consumed))
                    .load(std::memory_order_acquire);
  }
  // Free bytes, as far as known; reads the consumer's line only if fewer than `wanted` are known.
  [[nodiscard]] std::size_t room(std::size_t wanted) {
    if (credit_ < wanted) refresh();
    return credit_;
  }
  // Copies the next `count` bytes of `body` into the ring. Requires: count <= room(), count <= body.left().
  void write(portals::RegionCursor& body, std::size_t count);
  // The same for one piece of memory.
  void write(std::span<const std::byte> body);
  // Hints that the cache lines of the last `count` bytes, which have been announced, be pushed towards the consumer's
  // processor (cache_hints.hpp).
  void hint_caches(std::size_t count);
  // Prefetches, for writing, the lines of the next body, which is assumed to be as long as the last one: `count` bytes.
  void prepare(std::size_t count);
  // Makes everything written visible to the consumer.
  void publish() {
    // Release: pairs with the acquire in ByteConsumer::refresh: a consumer that sees this count sees the bytes. Without
    // it, it could copy bytes of an earlier body.
    std::atomic_ref<std::uint64_t>(mine_->bytes_produced).store(produced_, std::memory_order_release);
  }

 private:
  // Reads the consumer's count, and computes the credit from it.
  void refresh();
  // The ring's memory of `count` bytes from position `from`, in whole lines.
  [[nodiscard]] std::span<std::byte> lines(std::uint64_t from, std::size_t count) const;
  // Accounts for bytes that were copied into the ring; they are not yet visible.
  void advance(std::size_t count) {
    MARGAY_DEBUG_ASSERT(count <= credit_);
    produced_ += count, credit_ -= count;
  }

  // The ring's memory, in the node's segment; this role does not own it.
  std::span<std::byte> bytes_;
  // The line that this role writes, and the one that it only reads.
  ProducerLine* mine_;
  const ConsumerLine* theirs_;
  // Bytes written since the beginning.
  std::uint64_t produced_ = 0;
  // Free bytes, as far as known.
  std::size_t credit_;
};

// The consumer's role: process-local state, one thread at a time.
class ByteConsumer {
 public:
  ByteConsumer(std::span<std::byte> bytes, const ProducerLine& theirs, ConsumerLine& mine)
      : bytes_(bytes), theirs_(&theirs), mine_(&mine) {
    MARGAY_ASSERT(!bytes.empty() && (bytes.size() & (bytes.size() - 1)) == 0);
  }

  // Continues the ring of an earlier consumer, after the bytes that it has returned.
  void resume() {
    // Acquire: pairs with the release in settle(), which the earlier consumer executed.
    consumed_ = known_ = std::atomic_ref<std::uint64_t>(mine_->bytes_consumed).load(std::memory_order_acquire);
  }
  // Bytes known to be in the ring; reads the producer's line only when none are.
  [[nodiscard]] std::size_t available() {
    if (known_ == consumed_) refresh();
    return static_cast<std::size_t>(known_ - consumed_);
  }
  // Reports that a cell announced the next `count` bytes. Requires: count <= size.
  void expect(std::size_t count);
  // The next `count` bytes in place; `second` is empty unless they wrap around the ring's end. Valid until release().
  // Requires: count <= available().
  struct Pieces {
    std::span<std::byte> first, second;
  };
  [[nodiscard]] Pieces peek(std::size_t count) const;
  // Copies the next `count` bytes to the position of `landing`. Requires: count <= available(), count <=
  // landing.left().
  void read(portals::RegionCursor& landing, std::size_t count);
  // Consumes `count` bytes, and returns their credit to the producer at once, for a body that streams.
  void release(std::size_t count) {
    pass(count);
    static_cast<void>(settle());
  }
  // The same, but credit is returned for an eighth of the ring at a time. True: it was returned now.
  bool release_later(std::size_t count) {
    pass(count);
    return unannounced_ > bytes_.size() / 8 && settle();
  }
  // Prefetches the first lines of the next body, which is here and assumed to be as long as the last one: `count` bytes
  // (cache_hints.hpp).
  void fetch(std::size_t count) const;
  // Returns the credit that release_later() kept back. Returns whether there was any.
  bool settle() {
    if (unannounced_ == 0) return false;
    unannounced_ = 0;
    // Release: pairs with the acquire in ByteProducer::refresh: our reads of these bytes are complete. Without it the
    // producer could overwrite bytes that we still copy.
    std::atomic_ref<std::uint64_t>(mine_->bytes_consumed).store(consumed_, std::memory_order_release);
    return true;
  }

 private:
  // Reads the producer's count, and ignores an impossible one.
  void refresh();
  // Consumes bytes without returning their credit.
  void pass(std::size_t count) {
    MARGAY_DEBUG_ASSERT(count <= known_ - consumed_);
    consumed_ += count, unannounced_ += count;
  }

  // As in ByteProducer.
  std::span<std::byte> bytes_;
  const ProducerLine* theirs_;
  ConsumerLine* mine_;
  // Bytes consumed since the beginning, returned to the producer or not.
  std::uint64_t consumed_ = 0;
  // Bytes produced, as far as known.
  std::uint64_t known_ = 0;
  // Consumed bytes whose credit has not been returned.
  std::size_t unannounced_ = 0;
};

}  // namespace margay::sim
