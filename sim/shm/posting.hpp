// What one process shows others, call after call, without waiting for them: a row of postings, one for each of the
// latest calls. A reader that is late still finds it; who posts comes to a posting again when all readers have said
// that they are done with the call that had it.
//
// Invariants
//  1. A posting is written by its owner alone; `number` last. Who reads the number of its call there has acquired what
//     was written before.
//  2. A posting of call n is not written again before every member's Progress says that it is done with n: so nobody
//     reads what is being written.
//  3. A member that is done with call n and has no posting of n will have none: who waits for it gives up. It says so
//     after what it posted: who sees that it is done, and then no posting, has looked late enough.
//  4. What a posting shows of its owner's own memory is not changed before all that it is for have read it, or are done
//     with the call. An owner that leaves sooner, because a process is lost, has said so: who reads looks at that
//     after.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "sim/base/limits.hpp"

namespace margay::sim {

// Postings of a member, and long ones, whose data lies elsewhere and is shown by one of the former.
inline constexpr std::uint32_t kPostings = 64;
inline constexpr std::uint32_t kLongPostings = 8;
inline constexpr std::uint64_t kPostingBytes = 1024;
inline constexpr std::uint64_t kLongPostingBytes = std::uint64_t{64} << 10;

// In shared memory; all zero is one that was never used.
struct alignas(kCacheLineBytes) PostingData {
  std::uint64_t number = 0;  // of the call; calls are counted from 1
  std::uint64_t mark = 0;    // what its owner takes the call for
  std::uint32_t room = 0;    // where the data is: 0 here, or behind the lines; else long posting room - 1
  std::uint32_t unused = 0;
  alignas(std::max_align_t) std::array<std::byte, 32> here{};  // operators are given its address
};
static_assert(std::is_trivially_copyable_v<PostingData> && sizeof(PostingData) == kCacheLineBytes);

// In shared memory, one for each member; written by it alone, but `wanted`.
struct alignas(kCacheLineBytes) ProgressData {
  std::uint64_t done = 0;    // the latest call that it is done with
  std::uint64_t failed = 0;  // the latest one that it left because a process was lost
  std::uint64_t read = 0;    // the latest one in which it has read all that others show of their own memory
};
static_assert(std::is_trivially_copyable_v<ProgressData> && sizeof(ProgressData) == kCacheLineBytes);

// Release: pairs with posted().
inline void post(PostingData& posting, std::uint64_t number) {
  std::atomic_ref<std::uint64_t>(posting.number).store(number, std::memory_order_release);
}
// Whether its owner has posted this call. Acquire: pairs with post().
[[nodiscard]] inline bool posted(PostingData& posting, std::uint64_t number) {
  return std::atomic_ref<std::uint64_t>(posting.number).load(std::memory_order_acquire) == number;
}

// Release: what this member read is read, and what it posted is posted.
inline void be_done(ProgressData& progress, std::uint64_t number, bool failed) {
  // Relaxed: the store below publishes it.
  if (failed) std::atomic_ref<std::uint64_t>(progress.failed).store(number, std::memory_order_relaxed);
  std::atomic_ref<std::uint64_t>(progress.done).store(number, std::memory_order_release);
}
// Release: what this member read is read; who showed it may change it.
inline void have_read(ProgressData& progress, std::uint64_t number) {
  std::atomic_ref<std::uint64_t>(progress.read).store(number, std::memory_order_release);
}
// Acquire: pairs with have_read().
[[nodiscard]] inline std::uint64_t read_up_to(ProgressData& progress) {
  return std::atomic_ref<std::uint64_t>(progress.read).load(std::memory_order_acquire);
}
// Acquire: pairs with be_done().
[[nodiscard]] inline std::uint64_t done_with(ProgressData& progress) {
  return std::atomic_ref<std::uint64_t>(progress.done).load(std::memory_order_acquire);
}
// In this call, or a later one: which is then no other reason why it has no posting of this one.
[[nodiscard]] inline bool has_failed(ProgressData& progress, std::uint64_t number) {
  // Relaxed: asked after done_with(), which has acquired it.
  return std::atomic_ref<std::uint64_t>(progress.failed).load(std::memory_order_relaxed) >= number;
}

// Somebody waits, and may sleep, until some member is done with a call: from then on whoever is done looks whether
// others sleep. The word stays: taken back and said anew, it would need a barrier of its own each time. The waiter says
// it, then looks once more; before it sleeps it runs the barrier of sim/shm/bell, which stands between its store and
// its last look, so that who is done either is seen by that look or sees the word.
inline void want(std::uint32_t& wanted) {
  // Relaxed, see above.
  std::atomic_ref<std::uint32_t>(wanted).store(1, std::memory_order_relaxed);
}
// `registered`: this process's register_node_barrier() said yes; else the waiter's barrier does not reach it, and it
// pays for one of its own.
[[nodiscard]] inline bool is_wanted(std::uint32_t& wanted, bool registered) {
  // Pairs with the sequentially consistent order of the waiter's barrier: without it this read could come before our
  // store of being done, and the waiter's last look after neither.
  if (!registered) [[unlikely]]
    std::atomic_thread_fence(std::memory_order_seq_cst);
  // Keeps the compiler from moving the read above the store of who is done.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return std::atomic_ref<std::uint32_t>(wanted).load(std::memory_order_relaxed) != 0;
}

}  // namespace margay::sim
