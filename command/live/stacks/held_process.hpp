// A process that stands still while its stacks are read. Seized, not attached to: it gets no signal, its parent is not
// told, and whatever ends this process lets it go on, with the signals that it was about to get.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

class HeldProcess {
 public:
  HeldProcess() = default;
  HeldProcess(const HeldProcess&) = delete;
  HeldProcess& operator=(const HeldProcess&) = delete;
  ~HeldProcess() { release(); }

  // Stops all threads of the process. Error: it has ended; the system does not allow it, and the sentence says which
  // setting refuses; or a thread does not stop in time, as one in vfork() or in a file system that does not answer.
  // Then no thread is stopped. Release by the thread that called this. A thread that did not stop in time cannot be let
  // go before it does: the system lets it go when the calling thread ends, so call from a thread of its own.
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
  [[nodiscard]] bool ask(int tid);
  [[nodiscard]] bool ask_beside_others(int tid);
  [[nodiscard]] bool collect(int tid);
  [[nodiscard]] portals::Status ask_new(int pid, std::uint64_t begun_ns, bool& found);
  [[nodiscard]] portals::Status wait_for_stops(std::uint64_t begun_ns);

  std::vector<Thread> threads_;
  std::vector<int> asked_;  // seized, and not seen to stop
};

// "" for a process whose stacks may be asked for; what is the matter with this command itself, and with a thread of the
// kernel.
[[nodiscard]] std::string why_without_stacks(int pid);

inline constexpr std::string_view kHasEnded = "it has ended";
// Why the system refuses to hold or to read a process, and what allows it. `error`: of ptrace(), or of a file in /proc.
[[nodiscard]] std::string why_refused(int pid, int error);

// What /proc tells of a refusal.
struct Refusal {
  int scope = -1;  // yama's ptrace_scope; -1: none
  int tracer = 0;  // the process that holds it already; 0: none
  int owner = -1;  // the user that it belongs to; -1: to this one, or this one is root
  std::string error;
};
// The same by these. Pure.
[[nodiscard]] std::string refusal_words(const Refusal& refusal);

}  // namespace margay::command
