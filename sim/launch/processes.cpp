#include "sim/launch/processes.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>

#include "sim/launch/poller.hpp"

namespace margay::sim {

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

bool catches_signal(int pid, int signal) {
  if (pid <= 0) return false;
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("SigCgt:", 0) != 0) continue;
    const std::uint64_t caught = std::strtoull(line.c_str() + 7, nullptr, 16);
    return (caught >> (signal - 1) & 1) != 0;
  }
  return false;
}

}  // namespace margay::sim
