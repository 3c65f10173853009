// A process that is stopped while its stacks are read.
// It is seized (PTRACE_SEIZE), not attached to: it gets no signal, its parent is not notified, and if this process ends
// for whatever reason, the other one continues, with its pending signals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// Owns the stop. All calls must come from one thread, because the system binds a seizure to it.
class HeldProcess {
 public:
  HeldProcess() = default;
  HeldProcess(const HeldProcess&) = delete;
  HeldProcess& operator=(const HeldProcess&) = delete;
  ~HeldProcess() { release(); }

  // Stops all threads of the process. Error, after which no thread is stopped: it has ended; the system refuses, and
  // the message names the setting; or a thread does not stop in time, as in vfork() or in an unresponsive file system.
  // A thread that did not stop in time remains seized until the calling thread ends, so call this from a thread of its
  // own. Blocks for milliseconds usually, for some seconds at most.
  [[nodiscard]] portals::Status hold(int pid);
  // Continues all threads, with the signals that arrived meanwhile. No effect if nothing is held.
  void release();

  // The stopped threads, the main one first.
  struct Thread {
    int tid = 0;
    // The signal that it was about to receive; 0: none.
    int signal = 0;
  };
  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }

 private:
  // Seizes a thread and requests its stop. False: it has ended, or the system refuses (errno).
  [[nodiscard]] bool ask(int tid);
  // After a refusal. True: another process traces the thread, or a second attempt succeeded.
  [[nodiscard]] bool ask_beside_others(int tid);
  // Whether the thread has stopped, and is then in threads_, or has ended.
  [[nodiscard]] bool collect(int tid);
  // Asks all threads that are not held; `found`: there were some. Threads may create others meanwhile, so it is
  // repeated.
  [[nodiscard]] portals::Status ask_new(int pid, std::uint64_t begun_ns, bool& found);
  // Error: a thread does not stop in time.
  [[nodiscard]] portals::Status wait_for_stops(std::uint64_t begun_ns);

  std::vector<Thread> threads_;
  // Seized, and not yet stopped.
  std::vector<int> asked_;
};

// Why a process has no stacks to show: it is this command itself, or a kernel thread. "": it may be examined.
[[nodiscard]] std::string why_without_stacks(int pid);

inline constexpr std::string_view kHasEnded = "it has ended";
// Why the system refuses to stop or read a process, and how to allow it. `error`: errno of ptrace(), or of a file in
// /proc.
[[nodiscard]] std::string why_refused(int pid, int error);

// The facts in /proc about a refusal.
struct Refusal {
  // Yama's ptrace_scope; -1: there is none.
  int scope = -1;
  // The process that traces it already; 0: none.
  int tracer = 0;
  // Its user; -1: the same user, or this one is root.
  int owner = -1;
  std::string error;
};
// The message for these facts. Pure.
[[nodiscard]] std::string refusal_text(const Refusal& refusal);

}  // namespace margay::command
