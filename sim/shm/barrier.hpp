// The asymmetric barrier, and futexes. The frequent side pays a plain store and load; the rare side makes every other
// thread's processor execute a full fence (membarrier), so that the rare side's next read sees all earlier stores of
// the frequent side.
#pragma once

#include <atomic>
#include <cstdint>

namespace margay::sim {

#if defined(__SANITIZE_THREAD__)
#define MARGAY_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MARGAY_THREAD_SANITIZER 1
#endif
#endif
#ifndef MARGAY_THREAD_SANITIZER
#define MARGAY_THREAD_SANITIZER 0
#endif

// Thread sanitizer does not support membarrier, so under it both sides use orders that it supports.
inline constexpr bool kMembarrierAllowed = MARGAY_THREAD_SANITIZER == 0;

// Registers this process for node_barrier(), which threads of other processes call. May be repeated. false: the
// operating system refuses it, so real fences are needed.
[[nodiscard]] bool register_node_barrier();
// The same for process_barrier(), which threads of this process call.
[[nodiscard]] bool register_process_barrier();

// Makes every running thread of every registered process execute a full fence. A system call. false: refused, and no
// fence is executed. Some microseconds, because it interrupts each processor that runs such a thread.
[[nodiscard]] bool node_barrier();
// The same for the threads of this process. Requires: register_process_barrier().
[[nodiscard]] bool process_barrier();

// Sleeps if `word` is `expected`, until futex_wake_all(), and for at most `timeout_ns` (UINT64_MAX: no limit). It may
// return spuriously, so callers test their condition again. The word may be shared between processes.
void futex_wait(const std::uint32_t& word, std::uint32_t expected, std::uint64_t timeout_ns);
// Wakes all waiters on the word. A system call, even if there are none.
void futex_wake_all(const std::uint32_t& word);

// The processor's hint for a spin loop.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// A full fence: a thread that sees what this thread writes afterwards also sees what this thread wrote before. For
// MPI_Win_sync.
inline void order_memory() {
  // Partner: the other process's own call (MPI 4.0, 12.7); between the two the program synchronises by any means.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace margay::sim
