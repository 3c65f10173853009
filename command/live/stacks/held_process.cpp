#include "command/live/stacks/held_process.hpp"

#include <fmt/core.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

#include "command/live/running_jobs.hpp"
#include "sim/base/clock.hpp"
#include "sim/base/process_identity.hpp"
#include "sim/kernel/waiter.hpp"

namespace margay::command {

namespace {

using portals::Status;

// Bounds of the stop: for a thread that does not stop, and for one that gets no processor.
constexpr std::uint64_t kStopPatienceNs = 200'000'000;
constexpr std::uint64_t kLongestNs = 5'000'000'000;
constexpr std::uint64_t kPollNs = 200'000;
// The wait for another tracer's end.
constexpr std::uint64_t kOthersNs = 1'000'000'000;

// The process's threads, sorted, the main thread first. All commands seize in this order.
std::vector<int> threads_of(int pid) {
  namespace fs = std::filesystem;
  std::vector<int> tids;
  std::error_code error;
  for (fs::directory_iterator at(fmt::format("/proc/{}/task", pid), error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    int tid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), tid).ec == std::errc()) tids.push_back(tid);
  }
  std::ranges::sort(tids);
  const auto main = std::ranges::find(tids, pid);
  if (main != tids.end()) std::rotate(tids.begin(), main, main + 1);
  return tids;
}

// The number after a key in a file of /proc, or the first number if the key is empty.
int number_in(const std::string& path, const std::string& key, int otherwise) {
  std::ifstream file(path);
  std::string word;
  int number = otherwise;
  if (key.empty()) return file >> number ? number : otherwise;
  while (file >> word) {
    if (word == key) return file >> number ? number : otherwise;
  }
  return otherwise;
}

// The process that traces the thread; 0: none.
int tracer_of(int tid) {
  return number_in(fmt::format("/proc/{}/status", tid), "TracerPid:", 0);
}

// Whether the thread has ended: the system refuses a zombie with the same error as another user's process.
bool has_exited(int tid) {
  const char state = command::look_at_process(tid).state;
  return state == 0 || state == 'Z' || state == 'X';
}

// Whether the process has ended; its main thread may end before others.
bool process_has_ended(int pid) {
  const command::ProcessSnapshot look = command::look_at_process(pid);
  return look.state == 0 || sim::has_ended({pid, look.start_ticks});
}

std::string stuck_text(int tid) {
  const char state = command::look_at_process(tid).state;
  return fmt::format(
      "its thread {} does not stop (state {}): it waits for the child of a vfork(), or for a file "
      "system or a device that does not answer, or is frozen; the process continues, and is not shown",
      tid, state == 0 ? '?' : state);
}

// The user of process `pid`; -1: it is this process's user, or this process runs as root.
int other_owner(int pid) {
  const int user = number_in(fmt::format("/proc/{}/status", pid), "Uid:", -1);
  const auto own = static_cast<int>(::geteuid());
  return own == 0 || user == own ? -1 : user;
}

}  // namespace

std::string why_without_stacks(int pid) {
  if (pid == ::getpid()) return "is this command itself: name another one";
  // proc(5): the flags are the ninth field of the stat file; the second is the name.
  constexpr int kFlagsBehindName = 7;
  // PF_KTHREAD of Linux's sched.h.
  constexpr std::uint64_t kKernelThread = 0x200000;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(std::min(line.rfind(')'), line.size() - 1) + 1));
  std::string field;
  for (int at = 0; at < kFlagsBehindName; ++at) fields >> field;
  std::uint64_t flags = 0;
  const bool read = std::from_chars(field.data(), field.data() + field.size(), flags).ec == std::errc();
  return read && (flags & kKernelThread) != 0 ? "is a thread of the kernel, which has no program" : "";
}

// Tests the facts in the order of certainty: a tracer or another owner explains the refusal by itself.
std::string refusal_text(const Refusal& refusal) {
  if (refusal.tracer != 0) {
    return fmt::format(
        "process {} (a debugger, or another margay stacks) traces it already; try again when that has ended",
        refusal.tracer);
  }
  if (refusal.owner >= 0) {
    return fmt::format("it belongs to user {}: run margay stacks as that user, or as root", refusal.owner);
  }
  if (refusal.scope == 1) {
    return "kernel.yama.ptrace_scope is 1, so only its parents may look into a process: as root, "
           "`sysctl kernel.yama.ptrace_scope=0`, or run margay stacks as root";
  }
  if (refusal.scope == 2)
    return "kernel.yama.ptrace_scope is 2, so only root may look into a process: run margay stacks as root";
  if (refusal.scope >= 3) {
    return fmt::format("kernel.yama.ptrace_scope is {}, which forbids it until the next boot", refusal.scope);
  }
  return refusal.error +
         ": a container lacks the capability SYS_PTRACE, its seccomp filter refuses ptrace, or the "
         "process has more rights than this user";
}

std::string why_refused(int pid, int error) {
  if (error == ESRCH || error == ENOENT || process_has_ended(pid)) return std::string(kHasEnded);
  return refusal_text({.scope = number_in("/proc/sys/kernel/yama/ptrace_scope", "", -1),
                       .tracer = tracer_of(pid),
                       .owner = other_owner(pid),
                       .error = std::strerror(error)});
}

// Seizes a thread and requests its stop. False: it has ended, or the system refuses (errno).
bool HeldProcess::ask(int tid) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) return false;
  asked_.push_back(tid);
  // An error means that the thread has ended; it is seized nevertheless.
  static_cast<void>(::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr));
  return true;
}

// Distinguishes a refusal from another tracer, after EPERM. True: another process traces or traced the thread, or the
// request has now succeeded. False: the system refuses. Repeated, because tracers may come and go between the two
// checks.
bool HeldProcess::ask_beside_others(int tid) {
  constexpr int kLooks = 16;
  for (int look = 0; look < kLooks; ++look) {
    if (tracer_of(tid) != 0 || ask(tid)) return true;
  }
  return false;
}

// Whether the thread has stopped or ended.
bool HeldProcess::collect(int tid) {
  siginfo_t seen{};
  if (::waitid(P_PID, static_cast<id_t>(tid), &seen, WEXITED | WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0) {
    return errno != EINTR;
  }
  if (seen.si_pid == 0) return false;
  const bool stopped = seen.si_code == CLD_TRAPPED;
  const int event = seen.si_status >> 8;
  // The thread may have stopped for a signal of its own, which it gets when it continues. This stop must not be reaped:
  // otherwise the signal would be lost if this process ended.
  const bool by_signal = stopped && event == 0;
  if (!by_signal) static_cast<void>(::waitpid(tid, nullptr, __WALL | WNOHANG));
  if (stopped) threads_.push_back({tid, by_signal ? seen.si_status : 0});
  return true;
}

Status HeldProcess::ask_new(int pid, std::uint64_t begun_ns, bool& found) {
  found = false;
  for (const int tid : threads_of(pid)) {
    if (std::ranges::any_of(threads_, [tid](const Thread& thread) { return thread.tid == tid; })) continue;
    if (ask(tid)) {
      found = true;
    } else if (const int error = errno; error != ESRCH && !has_exited(tid)) {
      // Another margay stacks holds a process only briefly. All of them seize threads in the same order, so two of them
      // do not deadlock.
      const bool is_held = error == EPERM && ask_beside_others(tid);
      if (!is_held || sim::real_clock().now_ns() - begun_ns > kOthersNs) return Status::error(why_refused(pid, error));
      sim::give_processor_up(kPollNs);
      found = true;
      return {};
    }
  }
  return {};
}

// Polls, because waitid() for one thread cannot be combined with a timeout.
Status HeldProcess::wait_for_stops(std::uint64_t begun_ns) {
  while (true) {
    std::erase_if(asked_, [this](int tid) { return collect(tid); });
    if (asked_.empty()) return {};
    const std::uint64_t passed_ns = sim::real_clock().now_ns() - begun_ns;
    if (passed_ns > kStopPatienceNs) {
      // waitpid() does not report a main thread that ended before other threads.
      std::erase_if(asked_, has_exited);
      // A runnable thread stops as soon as it gets a processor.
      const auto stuck = std::ranges::find_if(
          asked_, [&](int tid) { return passed_ns > kLongestNs || command::look_at_process(tid).state != 'R'; });
      if (stuck != asked_.end() && !collect(*stuck)) return Status::error(stuck_text(*stuck));
      if (stuck != asked_.end()) asked_.erase(stuck);
    }
    sim::give_processor_up(kPollNs);
  }
}

Status HeldProcess::hold(int pid) {
  release();
  const std::uint64_t begun_ns = sim::real_clock().now_ns();
  // A running thread may create another one, so this repeats until no new one is found.
  for (bool found = true; found;) {
    Status status = ask_new(pid, begun_ns, found);
    if (status.ok()) status = wait_for_stops(begun_ns);
    if (!status.ok()) {
      release();
      return status;
    }
  }
  if (threads_.empty()) return Status::error(std::string(kHasEnded));
  std::ranges::sort(threads_, {}, &Thread::tid);
  const auto main = std::ranges::find(threads_, pid, &Thread::tid);
  if (main != threads_.end()) std::rotate(threads_.begin(), main, main + 1);
  return {};
}

// First collects threads that have stopped since; otherwise they would stay stopped until the calling thread ends.
void HeldProcess::release() {
  std::erase_if(asked_, [this](int tid) { return collect(tid); });
  asked_.clear();
  for (const Thread& thread : threads_) {
    // The request passes the signal in place of a pointer.
    ::ptrace(PTRACE_DETACH, thread.tid, nullptr, static_cast<std::uintptr_t>(thread.signal));
  }
  threads_.clear();
}

}  // namespace margay::command
