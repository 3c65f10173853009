// The message coprocessor: a thread that takes the owner's place in the kernel while the owner computes, as the
// Paragon's second processor did. It sleeps until the process's bell is rung (somebody waits for this process), or a
// tick passes while work is known to be there; the owner's fast path pays nothing for it (sim/shm/biased_lock.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "portals/base/status.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/shm/bell.hpp"
#include "sim/shm/biased_lock.hpp"

namespace margay::sim {

class Coprocessor {
 public:
  // What one round does; the program's whole progress (an MPI library's has more in it than the kernel's).
  // Returns whether anything moved. Called with the process lock held.
  using Round = std::function<bool()>;

  struct Settings {
    BiasedLock* lock = nullptr;
    BellData* bell = nullptr;  // nullptr: alone on the node, only ticks
    Kernel* kernel = nullptr;
    int wake_descriptor = -1;     // written whenever the bell is rung, for an owner that sleeps in poll()
    bool ticks = false;           // a wire is there that rings no bell: look now and then by itself
    std::function<void()> ends;   // called with the lock, in its thread, as that ends; may be empty
    std::function<void()> watch;  // called now and then, and at least each watch_ns, without the lock; may be empty
    std::uint64_t watch_ns = 0;
    std::size_t stack_bytes = std::size_t{256} * 1024;  // beside the program's thread-local data
  };

  Coprocessor();
  ~Coprocessor();  // stops it
  Coprocessor(const Coprocessor&) = delete;
  Coprocessor& operator=(const Coprocessor&) = delete;

  // Error: the thread cannot be made; the process works without it, but no message moves while it computes.
  // It may have been stopped before.
  [[nodiscard]] portals::Status start(const Settings& settings, Round round);
  void stop();
  // Work is left behind as the owner leaves: the next tick looks at it. The owner's call, inside the lock, as the last
  // thing before it leaves; a load when already awake.
  void arm();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::sim
