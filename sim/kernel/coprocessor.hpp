// The message coprocessor: a thread that makes progress in the kernel while the owner computes, as the Paragon's second
// processor did. It sleeps until the process's bell rings (another rank waits for this process) or, when work is known
// to be left, until a tick passes. The owner's fast path pays nothing for it (sim/shm/biased_lock.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "portals/base/status.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/shm/bell.hpp"
#include "sim/shm/biased_lock.hpp"

namespace margay::sim {

// One thread per process. start(), stop() and arm() are the owner's.
class Coprocessor {
 public:
  // One round: the program's whole progress (an MPI library's does more than the kernel's). Returns whether anything
  // moved. Called in this thread, with the process lock held.
  using Round = std::function<bool()>;

  // Pointers are not owned and outlive the thread; `lock` and `kernel` are required.
  struct Settings {
    BiasedLock* lock = nullptr;
    // nullptr: alone on the node, so only ticks wake the thread.
    BellData* bell = nullptr;
    Kernel* kernel = nullptr;
    // Written at each ring, for an owner that sleeps in poll(); -1: none.
    int wake_descriptor = -1;
    // A wire rings no bell, so the thread ticks even when no work is known.
    bool ticks = false;
    // Called with the lock held, as the last thing of the thread; may be empty. Not called when the owner holds the
    // lock then.
    std::function<void()> ends;
    // Called without the lock, at each wake-up and at least every `watch_ns`; may be empty.
    std::function<void()> watch;
    std::uint64_t watch_ns = 0;
    // Size of the thread's stack, without the part that the program's thread-local data occupy.
    std::size_t stack_bytes = std::size_t{256} * 1024;
  };

  Coprocessor();
  // Stops it.
  ~Coprocessor();
  Coprocessor(const Coprocessor&) = delete;
  Coprocessor& operator=(const Coprocessor&) = delete;

  // Starts the thread, also again after stop(). Fails when the thread cannot be created; the process then works without
  // it, but no message moves while it computes.
  [[nodiscard]] portals::Status start(const Settings& settings, Round round);
  // Stops and joins the thread; no effect when it does not run.
  void stop();
  // Makes the next tick poll, because the owner leaves work behind. Called by the owner inside the lock, as the last
  // thing before it leaves. Costs a load when the thread is awake already.
  void arm();

 private:
  // Hidden, so that the headers of threads and signals stay out of the kernel's.
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::sim
