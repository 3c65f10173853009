// The message coprocessor: a thread that makes progress in the kernel while the owner computes, as the Paragon's second
// processor did. It sleeps until the process's bell rings, because another rank waits for this process. While work is
// known to remain, or a wire rings no bell, it sleeps for one tick at most. The owner's fast path pays nothing for it
// (sim/shm/biased_lock.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "portals/base/status.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/shm/bell.hpp"
#include "sim/shm/biased_lock.hpp"

namespace margay::sim {

// A process's message coprocessor: one thread. Only the owner calls start(), stop() and arm().
class Coprocessor {
 public:
  // One round of the program's whole progress (that of an MPI library includes the device's). Returns whether anything
  // moved. Called in the coprocessor's thread, with the process lock locked.
  using Round = std::function<bool()>;

  // Pointers are not owned and outlive the thread; `lock` and `kernel` are required.
  struct Settings {
    BiasedLock* lock = nullptr;
    // The process's bell. nullptr: the node has no other rank, so only ticks, arm() and stop() wake the thread.
    BellData* bell = nullptr;
    Kernel* kernel = nullptr;
    // A file descriptor that the thread writes after each ring of the bell, to wake an owner that sleeps in poll(); -1:
    // none.
    int wake_descriptor = -1;
    // Whether the thread ticks even when no work is known, because a wire rings no bell.
    bool ticks = false;
    // Called at the thread's end, with the process lock locked; may be empty. Not called if the owner is inside the
    // lock then.
    std::function<void()> ends;
    // Called without the lock at each wake-up of the thread, and at least every `check_period_ns`; may be empty.
    std::function<void()> periodic_check;
    std::uint64_t check_period_ns = 0;
    // Size of the thread's stack, without the part that the program's thread-local data occupy.
    std::size_t stack_bytes = std::size_t{256} * 1024;
  };

  Coprocessor();
  // Calls stop().
  ~Coprocessor();
  Coprocessor(const Coprocessor&) = delete;
  Coprocessor& operator=(const Coprocessor&) = delete;

  // Starts the thread; may be called again after stop(). Fails when the thread cannot be created. The process then
  // works without a coprocessor, but no message moves while it computes.
  [[nodiscard]] portals::Status start(const Settings& settings, Round round);
  // Stops and joins the thread; no effect when it does not run.
  void stop();
  // Makes the thread poll after its next tick, because the owner leaves work behind. The owner calls it inside the
  // lock, directly before it leaves the lock. Costs a store and a load, and a ring of the bell if the thread sleeps
  // without a tick.
  void arm();

 private:
  // Hidden, so that this header does not include the headers of threads and signals.
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::sim
