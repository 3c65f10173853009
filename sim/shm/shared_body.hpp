// A body that both ends copy at once: the receiver reads it from the front out of the sender's memory, and the sender,
// when it has no other work, writes it from the back into the receiver's memory. Two processors share the copy, and
// each byte is copied once.
//
// The body is cut into chunks that both compute alike. Each chunk is claimed by one side.
//
// Invariants
//  1. `claims` holds the offer's number, the count of chunks that the receiver claimed from the front, and the count
//     that the sender claimed from the back. Until close(), their sum never exceeds the number of chunks.
//  2. Only the receiver opens (a new number) and closes (no chunk is left). Between the two its landing must not move,
//     and after the last claim it waits until `carried` reports that all the sender's chunks are over.
//  3. A sender that never polls claims nothing, and costs the receiver nothing.
//  4. The receiver derives the places of its own chunks from its own count of claims. It compares other values in
//     shared memory with that count; a contradiction is a fault of the sender (ReadFault::malformed).
//
// The data is in cell_data.hpp. A role is process-local, and belongs to one thread at a time (under the process lock).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "sim/shm/cell_data.hpp"

namespace margay::sim {

// The division of a body of a given length into chunks. One chunk: it is not shared.
class BodyChunks {
 public:
  explicit constexpr BodyChunks(std::uint64_t length)
      : length_(length), bytes_(chunk_bytes(length)), count_((length + bytes_ - 1) / bytes_) {}

  // Number of chunks.
  [[nodiscard]] constexpr std::uint64_t count() const { return count_; }
  // Position of a chunk in the body.
  [[nodiscard]] constexpr std::uint64_t offset(std::uint64_t chunk) const { return chunk * bytes_; }
  // Bytes of `count` chunks in a row.
  [[nodiscard]] constexpr std::uint64_t bytes(std::uint64_t chunk, std::uint64_t count = 1) const {
    return std::min(bytes_ * count, length_ - offset(chunk));
  }
  // Number of chunks that make about `bytes`; at least one.
  [[nodiscard]] constexpr std::uint64_t within(std::uint64_t bytes) const {
    return std::max<std::uint64_t>(bytes / bytes_, 1);
  }

 private:
  // Chunks are whole pages. Each chunk costs a system call (0.5 us, and 0.1 us for each page), and at the end one side
  // waits for the other's last chunk. One way, 256 KiB: 13.0 us in eight chunks, 10.6 in four; 64 KiB: 5.8 us in four,
  // 4.4 in two. 4 MiB: 256 us in chunks of 256 KiB, 222 in chunks of 512.
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kLeast = 8 * kPage;
  static constexpr std::uint64_t kMost = 128 * kPage;
  // The counts in the word of claims have 16 bits each, and close() sets all bits of the front count, which must exceed
  // every number of chunks.
  static constexpr std::uint64_t kCountMost = 0x7fff;
  // Rounded up to whole pages.
  [[nodiscard]] static constexpr std::uint64_t pages(std::uint64_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
  }
  // A quarter of the body, within the two bounds; longer where the counts' 16 bits demand it.
  [[nodiscard]] static constexpr std::uint64_t chunk_bytes(std::uint64_t length) {
    return std::max(std::clamp(pages(length / 4), kLeast, kMost), pages(length / kCountMost));
  }

  // Bytes of the body; bytes of each chunk but the last; number of chunks.
  std::uint64_t length_;
  std::uint64_t bytes_;
  std::uint64_t count_;
};

namespace detail {

// The word of claims: offer number (its low 32 bits) | claimed from the front | claimed from the back.
struct Claims {
  // The low half of the offer's number suffices, because few offers stand at once.
  std::uint32_t number = 0;
  std::uint16_t front = 0;
  std::uint16_t back = 0;
  explicit Claims(std::uint64_t word)
      : number(static_cast<std::uint32_t>(word >> 32)),
        front(static_cast<std::uint16_t>(word >> 16)),
        back(static_cast<std::uint16_t>(word)) {}
};
// One claim of the receiver, or of the sender, in the word.
inline constexpr std::uint64_t kOneFront = std::uint64_t{1} << 16;
inline constexpr std::uint64_t kOneBack = 1;

// Claims up to `count` chunks for the side whose step is `one`. Returns their number; 0: none is left, or another offer
// is open.
inline std::uint64_t claim(std::uint64_t& word, std::uint64_t number, std::uint64_t chunks, std::uint64_t one,
                           std::uint64_t count, Claims& before) {
  std::atomic_ref<std::uint64_t> claims(word);
  // Acquire, and again where the exchange fails: pairs with the release in SharedBodyReceiver::open, so that the
  // landing read next is this offer's.
  std::uint64_t seen = claims.load(std::memory_order_acquire);
  for (;;) {
    before = Claims(seen);
    if (before.number != static_cast<std::uint32_t>(number) || before.front + before.back >= chunks) return 0;
    const std::uint64_t mine = std::min(count, chunks - before.front - before.back);
    // Acquire: pairs with open(), as the load above does. The release has no partner, because `carried` and the answer
    // report what has been copied.
    if (claims.compare_exchange_weak(seen, seen + mine * one, std::memory_order_acq_rel, std::memory_order_acquire)) {
      return mine;
    }
  }
}

}  // namespace detail

// The receiver's role.
class SharedBodyReceiver {
 public:
  SharedBodyReceiver(SharedLine& shared, ConsumerLine& mine, const ProducerLine& theirs)
      : shared_(&shared), mine_(&mine), theirs_(&theirs) {}

  // Opens the body of offer `number` for claims; `landing` is its address here, where the sender may write.
  void open(std::uint64_t number, std::uint64_t landing, std::uint64_t chunks) {
    number_ = number;
    chunks_ = chunks;
    front_ = 0;
    mine_->landing = landing;
    // Release: pairs with the acquire in detail::claim: a sender that claims sees this landing. Without it, it could
    // write to an earlier body's.
    std::atomic_ref<std::uint64_t>(shared_->claims).store(number << 32, std::memory_order_release);
  }
  // Claims the next chunks from the front, at most `most`; returns their number, and `chunk` is the first. 0: none is
  // left, or the claims are damaged: remainder() distinguishes them.
  [[nodiscard]] std::uint64_t claim(std::uint64_t most, std::uint64_t& chunk) {
    detail::Claims before(0);
    const std::uint64_t count = detail::claim(shared_->claims, number_, chunks_, detail::kOneFront, most, before);
    chunk = front_;
    if (before.front != front_) return 0;
    front_ += count;
    return count;
  }
  // The state of the sender's chunks; `chunk`: the one that failed. damaged: shared memory holds an impossible value.
  // Requires: claim() returned 0.
  enum class Remainder : std::uint8_t { done, coming, failed, damaged };
  [[nodiscard]] Remainder remainder(std::uint64_t& chunk) const {
    // Relaxed: the last claim has been made, so the word does not change any more.
    const detail::Claims claims(std::atomic_ref<std::uint64_t>(shared_->claims).load(std::memory_order_relaxed));
    const bool whole = claims.front == front_ && claims.back == chunks_ - front_;
    if (claims.number != static_cast<std::uint32_t>(number_) || !whole) return Remainder::damaged;
    if (claims.back == 0) return Remainder::done;
    // Acquire: pairs with the release in SharedBodySender::report: the bytes that it wrote are here.
    const detail::Claims carried(
        std::atomic_ref<std::uint64_t>(const_cast<std::uint64_t&>(theirs_->carried)).load(std::memory_order_acquire));
    if (carried.number != static_cast<std::uint32_t>(number_)) return Remainder::coming;
    if (carried.back > claims.back) return Remainder::damaged;
    if (carried.front == 0) return carried.back == claims.back ? Remainder::done : Remainder::coming;
    // A sender claims no more chunks after one that failed.
    if (carried.back != claims.back) return Remainder::damaged;
    chunk = front_;
    return Remainder::failed;
  }
  // Forbids further claims, because the body uses another method.
  void close() {
    // Relaxed: it publishes nothing. A claim is an exchange of the same word, so it precedes this change or fails.
    std::atomic_ref<std::uint64_t>(shared_->claims).fetch_or(std::uint64_t{0xffff} << 16, std::memory_order_relaxed);
  }

 private:
  // The line of claims, and each side's own line in the channel.
  SharedLine* shared_;
  ConsumerLine* mine_;
  const ProducerLine* theirs_;
  // The offer whose body is open, and its number of chunks.
  std::uint64_t number_ = 0;
  std::uint64_t chunks_ = 0;
  // Chunks claimed here: our own count, because the sender could damage the claims.
  std::uint64_t front_ = 0;
};

// The sender's role.
class SharedBodySender {
 public:
  SharedBodySender(SharedLine& shared, ProducerLine& mine, const ConsumerLine& theirs)
      : shared_(&shared), mine_(&mine), theirs_(&theirs) {}

  // Claims the next chunk from the back of offer `number`; `landing` is the body's address in the receiver's memory.
  // False: the receiver has not opened it, or none is left.
  [[nodiscard]] bool claim(std::uint64_t number, std::uint64_t chunks, std::uint64_t& chunk, std::uint64_t& landing) {
    detail::Claims before(0);
    if (detail::claim(shared_->claims, number, chunks, detail::kOneBack, 1, before) == 0) return false;
    chunk = chunks - 1 - before.back;
    landing = theirs_->landing;
    claimed_ = before.back + 1U;
    return true;
  }
  // Reports that the last claimed chunk is over. `failed`: it is not in place, and will not be.
  void report(std::uint64_t number, bool failed) {
    // Release: pairs with the acquire in SharedBodyReceiver::remainder, see there.
    std::atomic_ref<std::uint64_t>(mine_->carried)
        .store(number << 32 | (failed ? detail::kOneFront : 0) | claimed_, std::memory_order_release);
  }

 private:
  SharedLine* shared_;
  // The sender's line, where it reports; the receiver's, where it finds the landing.
  ProducerLine* mine_;
  const ConsumerLine* theirs_;
  // Chunks claimed here of the present offer.
  std::uint64_t claimed_ = 0;
};

}  // namespace margay::sim
