#include "sim/launch/process/offspring.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "sim/launch/poller.hpp"

namespace margay::sim {
namespace {

constexpr std::int64_t kPatienceNs = 2'000'000'000;
constexpr useconds_t kBetweenLooksUs = 200;
constexpr std::string_view kMarkName = "MARGAY_JOB=";

std::vector<pid_t> children() {
  std::vector<pid_t> pids;
  std::ifstream file("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  return pids;
}

}  // namespace

void Offspring::begin(const std::string& job_name) {
  job_name_ = job_name;
  mark_ = std::string(kMarkName) + job_name;
  // A job within a job: its processes are the outer one's, too.
  if (const char* outer = std::getenv("MARGAY_JOB"); outer != nullptr) mark_ += "," + std::string(outer);
  before_ = children();
  some_before_ = !before_.empty();
}

void Offspring::reaped(pid_t pid) {
  std::erase(before_, pid);
}

Offspring::Whose Offspring::whose(pid_t pid, pid_t group) const {
  if (std::find(before_.begin(), before_.end(), pid) != before_.end()) return Whose::others;
  if (!some_before_ || (group > 0 && ::getpgid(pid) == group)) return Whose::jobs;
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  bool some = false;
  for (std::string entry; std::getline(file, entry, '\0'); some = true) {
    if (entry.rfind(kMarkName, 0) == 0 && entry.find(job_name_) != std::string::npos) return Whose::jobs;
  }
  // A zombie has none, and in exec a process has none for a moment.
  return some ? Whose::others : Whose::unknown;
}

void Offspring::end(pid_t group) {
  const std::int64_t until = signed_monotonic_ns() + kPatienceNs;
  while (signed_monotonic_ns() < until) {
    int status = 0;
    const pid_t gone = ::waitpid(-1, &status, WNOHANG);
    if (gone > 0) reaped(gone);
    if (gone > 0 || (gone < 0 && errno == EINTR)) continue;
    if (gone < 0) return;
    bool some_left = false;
    for (const pid_t pid : children()) {
      const Whose owner = whose(pid, group);
      some_left |= owner != Whose::others;
      if (owner == Whose::jobs) ::kill(pid, SIGKILL);
    }
    if (!some_left) return;
    ::usleep(kBetweenLooksUs);
  }
}

}  // namespace margay::sim
