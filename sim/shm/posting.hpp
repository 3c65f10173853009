// A per-process ring of posted buffers, one for each of the latest collective calls. The poster does not wait for
// readers until the ring wraps, because a late reader still finds the posting of its call, which is reused only when
// all readers have finished that call.
//
// Invariants
//  1. A posting is written by its owner alone, `number` last. A process that reads its call's number in a posting has
//     acquired everything that was written before the number.
//  2. A posting of call n is not written again before every member's progress shows that the member has finished n. So
//     no process reads a posting while it is written.
//  3. A member that has finished call n without a posting of n will never post one, so a wait for it ends. It stores
//     the end (`done`) after its postings. A process that first reads the end, and then finds no posting, need not look
//     again.
//  4. The owner's own memory to which a posting refers is not changed before all its readers have read it, or have
//     finished the call. An owner that leaves sooner, because a process is lost, has reported the failure before;
//     readers test for it after their reads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sim/base/limits.hpp"

namespace margay::sim {

// The number of a member's postings, and of its long postings. A long posting holds the data of one posting.
inline constexpr std::uint32_t kPostings = 64;
inline constexpr std::uint32_t kLongPostings = 8;
// Bytes of data of a posting, and of a long one.
inline constexpr std::uint64_t kPostingBytes = 1024;
inline constexpr std::uint64_t kLongPostingBytes = std::uint64_t{64} << 10;

// One posting, in shared memory; all zero is unused.
struct alignas(kCacheLineBytes) PostingData {
  // Number of the call; calls are counted from 1.
  std::uint64_t number = 0;
  // The owner's identification of the call.
  std::uint64_t mark = 0;
  // The place of the data. 0: in `here`, or after the lines of all postings; otherwise in long posting `room` - 1.
  std::uint32_t room = 0;
  std::uint32_t unused = 0;
  // Aligned, because operators are called with its address.
  alignas(std::max_align_t) std::array<std::byte, 32> here{};
};
static_assert(std::is_trivially_copyable_v<PostingData> && sizeof(PostingData) == kCacheLineBytes);

// A member's progress, in shared memory; written by that member alone.
struct alignas(kCacheLineBytes) ProgressData {
  // The latest call that it has finished.
  std::uint64_t done = 0;
  // The latest call that it left because a process was lost.
  std::uint64_t failed = 0;
  // The latest call in which it has finished reading the other members' own memory.
  std::uint64_t read = 0;
};
static_assert(std::is_trivially_copyable_v<ProgressData> && sizeof(ProgressData) == kCacheLineBytes);

// Publishes a posting. Release: pairs with posted().
inline void post(PostingData& posting, std::uint64_t number) {
  std::atomic_ref<std::uint64_t>(posting.number).store(number, std::memory_order_release);
}
// Whether its owner has posted this call. Acquire: pairs with post().
[[nodiscard]] inline bool posted(PostingData& posting, std::uint64_t number) {
  return std::atomic_ref<std::uint64_t>(posting.number).load(std::memory_order_acquire) == number;
}

// Reports that this member has finished a call. Release: its reads and its postings of the call are complete.
inline void publish_done(ProgressData& progress, std::uint64_t number, bool failed) {
  // Relaxed: the store below publishes it.
  if (failed) std::atomic_ref<std::uint64_t>(progress.failed).store(number, std::memory_order_relaxed);
  std::atomic_ref<std::uint64_t>(progress.done).store(number, std::memory_order_release);
}
// Reports that this member has read others' own memory. Release: its reads are complete, and the owners may change it.
inline void publish_read(ProgressData& progress, std::uint64_t number) {
  std::atomic_ref<std::uint64_t>(progress.read).store(number, std::memory_order_release);
}
// The latest call that a member has read. Acquire: pairs with publish_read().
[[nodiscard]] inline std::uint64_t read_up_to(ProgressData& progress) {
  return std::atomic_ref<std::uint64_t>(progress.read).load(std::memory_order_acquire);
}
// The latest call that a member has finished. Acquire: pairs with publish_done().
[[nodiscard]] inline std::uint64_t done_with(ProgressData& progress) {
  return std::atomic_ref<std::uint64_t>(progress.done).load(std::memory_order_acquire);
}
// Whether the member failed in this call or in a later one. Either counts as the reason why it has no posting of this
// call.
[[nodiscard]] inline bool has_failed(ProgressData& progress, std::uint64_t number) {
  // Relaxed: asked after done_with(), which has acquired it.
  return std::atomic_ref<std::uint64_t>(progress.failed).load(std::memory_order_relaxed) >= number;
}

// Announces that a process waits, and may sleep, until a member finishes a call: from then on, members that finish test
// whether others sleep. The word is never cleared, because setting it again would need a barrier each time. The waiter
// sets the word, then polls once more. Before it sleeps, it runs the barrier of sim/shm/bell between its store and its
// last poll: either that poll sees that a member has finished, or the member sees the word.
inline void set_wanted(std::uint32_t& wanted) {
  // Relaxed, see above.
  std::atomic_ref<std::uint32_t>(wanted).store(1, std::memory_order_relaxed);
}
// Whether any process has called set_wanted(). `registered`: the result of this process's register_node_barrier(); if
// false, the waiter's barrier does not reach this process, which then executes a fence of its own.
[[nodiscard]] inline bool is_wanted(std::uint32_t& wanted, bool registered) {
  // Pairs with the waiter's barrier. Without this fence, this read could be performed before our store in
  // publish_done(), and the waiter's last poll before that store as well: neither side would see the other.
  if (!registered) [[unlikely]]
    std::atomic_thread_fence(std::memory_order_seq_cst);
  // Keeps the compiler from moving the read above our store in publish_done().
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return std::atomic_ref<std::uint32_t>(wanted).load(std::memory_order_relaxed) != 0;
}

}  // namespace margay::sim
