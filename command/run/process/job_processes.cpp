#include "command/run/process/job_processes.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "command/run/stream/poller.hpp"

namespace margay::command {
namespace {

constexpr std::int64_t kPatienceNs = 2'000'000'000;
constexpr useconds_t kBetweenLooksUs = 200;
constexpr std::string_view kMarkName = "MARGAY_JOB=";

// This process's children, with the orphans that it has adopted as their subreaper.
std::vector<pid_t> children() {
  std::vector<pid_t> pids;
  std::ifstream file("/proc/self/task/" + std::to_string(::getpid()) + "/children");
  for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  return pids;
}

// Compares inode numbers, which identify a pipe across processes.
bool holds_one(pid_t pid, const std::vector<ino_t>& pipes) {
  // The process may end during the iteration; errors then end the loop.
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc/" + std::to_string(pid) + "/fd", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    struct stat about {};
    if (::stat(entry->path().c_str(), &about) != 0 || !S_ISFIFO(about.st_mode)) continue;
    if (std::find(pipes.begin(), pipes.end(), about.st_ino) != pipes.end()) return true;
  }
  return false;
}

bool is_detached(pid_t pid, const std::vector<ino_t>& pipes) {
  const pid_t session = ::getsid(pid);
  // A daemon detaches by a session of its own. A process that holds one of the pipes still prints for the job.
  return session > 0 && session != ::getsid(0) && !holds_one(pid, pipes);
}

}  // namespace

void JobProcesses::begin(const std::string& job_name) {
  job_name_ = job_name;
  mark_ = std::string(kMarkName) + job_name;
  // A job within a job: its processes also belong to the outer one.
  if (const char* outer = std::getenv("MARGAY_JOB"); outer != nullptr) mark_ += "," + std::string(outer);
  before_ = children();
  some_before_ = !before_.empty();
}

void JobProcesses::remove(pid_t pid) {
  std::erase(before_, pid);
}

JobProcesses::Membership JobProcesses::membership_of(pid_t pid, pid_t group) const {
  if (std::find(before_.begin(), before_.end(), pid) != before_.end()) return Membership::others;
  // If there were no children before the job, all children are the job's.
  if (!some_before_ || (group > 0 && ::getpgid(pid) == group)) return Membership::jobs;
  std::ifstream file("/proc/" + std::to_string(pid) + "/environ", std::ios::binary);
  bool some = false;
  for (std::string entry; std::getline(file, entry, '\0'); some = true) {
    if (entry.rfind(kMarkName, 0) == 0 && entry.find(job_name_) != std::string::npos) return Membership::jobs;
  }
  // A zombie has no environment, nor has a process at one moment of its exec.
  return some ? Membership::others : Membership::unknown;
}

// Polls, because an orphan becomes a child of the launcher without an event. Reaps before it reads the list of
// children, so that zombies do not count.
void JobProcesses::end(pid_t group, Detached detached, const std::vector<ino_t>& pipes) {
  const std::int64_t until = signed_monotonic_ns() + kPatienceNs;
  while (signed_monotonic_ns() < until) {
    int status = 0;
    const pid_t gone = ::waitpid(-1, &status, WNOHANG);
    if (gone > 0) remove(gone);
    if (gone > 0 || (gone < 0 && errno == EINTR)) continue;
    // No child is left.
    if (gone < 0) return;
    bool some_left = false;
    for (const pid_t pid : children()) {
      const Membership owner = membership_of(pid, group);
      if (owner == Membership::jobs && detached == Detached::live && is_detached(pid, pipes)) continue;
      // An unknown process is examined again in the next round.
      some_left |= owner != Membership::others;
      if (owner == Membership::jobs) ::kill(pid, SIGKILL);
    }
    if (!some_left) return;
    ::usleep(kBetweenLooksUs);
  }
}

}  // namespace margay::command
