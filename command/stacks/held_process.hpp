// A process that stands still while its stacks are read. Seized, not attached to: it gets no signal, its parent is not
// told, and whatever ends this process lets it go on.
#pragma once

#include <string>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

class HeldProcess {
 public:
  HeldProcess() = default;
  HeldProcess(const HeldProcess&) = delete;
  HeldProcess& operator=(const HeldProcess&) = delete;
  ~HeldProcess() { release(); }

  // Stops all threads of the process. Error: it has ended, or the system does not allow it; the sentence says which
  // setting refuses. Then no thread is stopped. Release by the thread that called this.
  [[nodiscard]] portals::Status hold(int pid);
  // All go on, with the signals that came meanwhile. No effect when nothing is held.
  void release();

  // Its threads, the main one first.
  struct Thread {
    int tid = 0;
    int signal = 0;  // that it was about to get
  };
  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }

 private:
  [[nodiscard]] bool take(int tid);

  std::vector<Thread> threads_;
};

// Why the system refuses to hold a process, and what allows it. `error`: of ptrace().
[[nodiscard]] std::string why_refused(int pid, int error);
// The same by what /proc tells: yama's ptrace_scope, -1 where there is none, and the process that holds it already, 0
// none. Pure.
[[nodiscard]] std::string refusal_words(int scope, int tracer, const std::string& error);

}  // namespace margay::command
