// A process that is stopped while its stacks are read.
// This command seizes it (PTRACE_SEIZE) instead of attaching to it: the process gets no signal, and its parent is not
// notified. If the command ends, for whatever reason, the process continues, with its pending signals.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// The process stays stopped until release() or the destructor. All calls must come from one thread, because the system
// binds a seizure to it.
class HeldProcess {
 public:
  HeldProcess() = default;
  HeldProcess(const HeldProcess&) = delete;
  HeldProcess& operator=(const HeldProcess&) = delete;
  ~HeldProcess() { release(); }

  // Stops all threads of the process. Fails if the process has ended (kHasEnded), if the system refuses, or if a thread
  // does not stop in time, as in vfork() or in an unresponsive file system; the stopped threads then continue. A thread
  // that did not stop in time remains seized until the calling thread ends, so call this from a thread of its own.
  // Blocks for milliseconds usually, for some seconds at most.
  [[nodiscard]] portals::Status hold(int pid);
  // Continues all threads, with the signals that arrived meanwhile. No effect if nothing is held.
  void release();

  // The stopped threads, the main one first.
  struct Thread {
    int tid = 0;
    // The signal that the thread was about to receive; 0: none.
    int signal = 0;
  };
  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }

 private:
  // Seizes a thread and requests its stop. False: it has ended, or the system refuses (errno).
  [[nodiscard]] bool ask(int tid);
  // Repeats a refused request a few times. True: another process traces the thread, or the request has now succeeded.
  [[nodiscard]] bool ask_beside_others(int tid);
  // Whether the thread has stopped, and is then in threads_, or has ended.
  [[nodiscard]] bool collect(int tid);
  // Requests the stop of all threads that are not held; `found`: there were some. Threads may create others meanwhile,
  // so hold() repeats the call until there are none.
  [[nodiscard]] portals::Status ask_new(int pid, std::uint64_t begun_ns, bool& found);
  // Error: a thread does not stop in time.
  [[nodiscard]] portals::Status wait_for_stops(std::uint64_t begun_ns);

  std::vector<Thread> threads_;
  // Threads that are seized and have not stopped yet.
  std::vector<int> asked_;
};

// Why a process has no stacks to show: it is this command itself, or a thread of the operating system. "": it may be
// examined.
[[nodiscard]] std::string why_without_stacks(int pid);

inline constexpr std::string_view kHasEnded = "it has ended";
// Why the system refuses to stop or read a process, and how to allow it. `error`: errno of ptrace(), or of a file in
// /proc.
[[nodiscard]] std::string why_refused(int pid, int error);

// The facts in /proc about a refusal.
struct Refusal {
  // Yama's ptrace_scope; -1: there is none.
  int scope = -1;
  // The process that already traces this one; 0: none.
  int tracer = 0;
  // The process's user; -1: the same user as this command's, or this command runs as root.
  int owner = -1;
  std::string error;
};
// The message for these facts. Pure.
[[nodiscard]] std::string refusal_text(const Refusal& refusal);

}  // namespace margay::command
