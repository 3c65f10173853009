// Helpers for two threads that run at once: each goes to a processor of its own, if there are two.
#pragma once

#include <pthread.h>
#include <sched.h>

#include "sim/shm/barrier.hpp"

namespace margay::sim {

inline constexpr bool kBuiltWithThreadSanitizer = !kMembarrierAllowed;

// Waits for about `steps` nanoseconds.
inline void take_steps(std::uint64_t steps) {
  for (std::uint64_t step = 0; step < steps; ++step) asm volatile("");
}

// Pins this thread to the `index`-th allowed processor; no effect if there are fewer. Undone on destruction.
class Pinned {
 public:
  explicit Pinned(int index) {
    ::pthread_getaffinity_np(::pthread_self(), sizeof before_, &before_);
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
      if (!CPU_ISSET(processor, &before_) || index-- != 0) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(processor, &one);
      ::pthread_setaffinity_np(::pthread_self(), sizeof one, &one);
    }
  }
  ~Pinned() { ::pthread_setaffinity_np(::pthread_self(), sizeof before_, &before_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_{};
};

}  // namespace margay::sim
