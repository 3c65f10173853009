#include "command/run/process/processes.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

namespace margay::command {
namespace {

bool catches_signal(int pid, int signal) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("SigCgt:", 0) != 0) continue;
    const std::uint64_t caught = std::strtoull(line.c_str() + 7, nullptr, 16);
    return (caught >> (signal - 1) & 1) != 0;
  }
  return false;
}

}  // namespace

void raise_descriptor_limit(rlimit& before) {
  if (::getrlimit(RLIMIT_NOFILE, &before) != 0) return;
  rlimit raised = before;
  raised.rlim_cur = raised.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &raised));
}

int processor_for(std::uint32_t rank) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  const auto allowed = static_cast<std::uint32_t>(CPU_COUNT(&set));
  if (allowed == 0) return -1;
  std::uint32_t left = rank % allowed;
  for (unsigned processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &set)) continue;
    if (left == 0) return static_cast<int>(processor);
    --left;
  }
  return -1;
}

void signal_ranks(const std::vector<int>& pids, int signal) {
  for (int pid : pids) {
    // Only a child that is not reaped yet: its number cannot have passed to another process.
    siginfo_t info{};
    if (pid <= 0 || ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) continue;
    ::kill(pid, signal);
  }
}

void signal_ranks_outside(int group, const std::vector<int>& pids, int signal) {
  std::vector<int> outside;
  std::ranges::copy_if(pids, std::back_inserter(outside),
                       [group](int pid) { return pid > 0 && ::getpgid(pid) != group; });
  signal_ranks(outside, signal);
}

bool signal_if_caught(const sim::ProcessIdentity& process, int signal) {
  if (process.pid <= 0) return false;
  // Before the looks: it is a handle for the process that they find there, whatever follows it under its number.
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0U));
  bool sent = false;
  if (!sim::has_ended(process) && catches_signal(process.pid, signal)) {
    // A kernel without handles (before Linux 5.3, or a filter) leaves the moment since the look.
    sent = handle >= 0 ? ::syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0U) == 0
                       : ::kill(process.pid, signal) == 0;
  }
  if (handle >= 0) ::close(handle);
  return sent;
}

std::vector<ChildChange> changed_children() {
  std::vector<ChildChange> changed;
  while (true) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WSTOPPED | WCONTINUED | WNOHANG) != 0 || info.si_pid == 0) break;
    changed.push_back({info.si_pid, info.si_code, info.si_status});
  }
  std::stable_partition(changed.begin(), changed.end(), [](const ChildChange& one) { return one.code != CLD_EXITED; });
  return changed;
}

}  // namespace margay::command
