// A thread that blocks on a wire's descriptor, so that rounds of progress poll the wire only when it is readable: the
// blocking thread of Nexus (section 3.3 of its paper).
//
// 1. The thread makes no call of the wire. It marks the wire as due, and wakes the process.
// 2. While the wire is due, the thread does not poll the descriptor, which stays readable until the wire is polled.
// 3. The poll of a due wire ends with polled(), after which the thread blocks on the descriptor again. A message that
//    arrived during the poll leaves the descriptor readable, so none is missed.
#pragma once

#include <functional>
#include <memory>

#include "portals/base/status.hpp"
#include "sim/shm/published.hpp"

namespace margay::sim {

// One wire's thread. Start, end and polled() belong to the thread that has the process lock.
class PollThread {
 public:
  PollThread();
  // Stops and joins the thread.
  ~PollThread();
  PollThread(const PollThread&) = delete;
  PollThread& operator=(const PollThread&) = delete;

  // Starts the thread, once. `descriptor` stays open until the end; `wake` is called in the thread, without the process
  // lock, each time that the wire becomes due. Fails if no descriptor or thread is available.
  [[nodiscard]] portals::Status start(int descriptor, std::function<void()> wake);
  // Whether the wire has something to poll. A load.
  [[nodiscard]] bool due() const { return due_.get() != 0; }
  // Reports that the wire was polled until it had nothing. A system call if it was due.
  void polled();

 private:
  struct Impl;
  // Written by the thread (1) and by polled() (0).
  Published<std::uint32_t> due_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace margay::sim
