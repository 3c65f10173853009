// The asymmetric barrier: the frequent side pays a plain store and load, the rare side makes every other thread's
// processor run a full fence (membarrier), so that the rare side's next look sees all earlier stores of the frequent
// one.
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

// Thread sanitizer does not know membarrier, so under it both sides use orders that it knows.
inline constexpr bool kMembarrierAllowed = MARGAY_THREAD_SANITIZER == 0;

// Registration of this process, once or more often. false: the kernel refuses, use real fences.
[[nodiscard]] bool register_node_barrier();     // for threads of other processes that share memory with this one
[[nodiscard]] bool register_process_barrier();  // for threads of this process

// Every running thread of every process that registered has run a full fence when this returns true.
[[nodiscard]] bool node_barrier();
// The same for the threads of this process. Requires: register_process_barrier().
[[nodiscard]] bool process_barrier();

// Waits while `word` is `expected`, at most `timeout_ns` (UINT64_MAX: for ever), until futex_wake_all or for no reason.
// The word may be shared between processes.
void futex_wait(const std::uint32_t& word, std::uint32_t expected, std::uint64_t timeout_ns);
void futex_wake_all(const std::uint32_t& word);

// Tells the processor that this is a spin loop.
inline void spin_pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// What this thread wrote before is seen by who sees what it writes after: MPI_Win_sync.
inline void order_memory() {
  // Partner: the other process's own call (MPI 4.0, 12.7); between the two the program synchronises by what it likes.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace margay::sim
