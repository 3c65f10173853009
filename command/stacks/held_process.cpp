#include "command/stacks/held_process.hpp"

#include <fmt/core.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>

#include "sim/cli/live/process_look.hpp"

namespace margay::command {

namespace {

using portals::Status;

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

// One that is a zombie is refused as another user's is.
bool has_exited(int tid) {
  const char state = sim::look_at_process(tid).state;
  return state == 0 || state == 'Z' || state == 'X';
}

}  // namespace

std::string refusal_words(int scope, int tracer, const std::string& error) {
  if (tracer != 0) return fmt::format("process {} (a debugger?) holds it already", tracer);
  if (scope == 1) {
    return "kernel.yama.ptrace_scope is 1, so only its parents may look into a process: as root, "
           "`sysctl kernel.yama.ptrace_scope=0`, or run margay stacks as root";
  }
  if (scope == 2)
    return "kernel.yama.ptrace_scope is 2, so only root may look into a process: run margay stacks as root";
  if (scope >= 3) return fmt::format("kernel.yama.ptrace_scope is {}, which forbids it until the next boot", scope);
  return error +
         ": it is another user's, or a container lacks the capability SYS_PTRACE, or its seccomp filter refuses ptrace";
}

std::string why_refused(int pid, int error) {
  if (error == ESRCH) return "it has ended";
  return refusal_words(number_in("/proc/sys/kernel/yama/ptrace_scope", "", -1),
                       number_in(fmt::format("/proc/{}/status", pid), "TracerPid:", 0), std::strerror(error));
}

// false: it has ended meanwhile, or is refused (errno).
bool HeldProcess::take(int tid) {
  if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) return false;
  if (::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) != 0) {
    const int error = errno;
    ::ptrace(PTRACE_DETACH, tid, nullptr, nullptr);
    errno = error;
    return false;
  }
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(tid, &status, __WALL);
  } while (waited < 0 && errno == EINTR);
  if (waited != tid || !WIFSTOPPED(status)) {
    errno = ESRCH;
    return false;
  }
  // It may have stopped for a signal of its own instead, which it gets when it goes on.
  const bool by_signal = (status >> 16) == 0;
  threads_.push_back({tid, by_signal ? WSTOPSIG(status) : 0});
  return true;
}

Status HeldProcess::hold(int pid) {
  release();
  // One that runs may make another thread: until a look finds no new one.
  for (bool found = true; found;) {
    found = false;
    for (const int tid : threads_of(pid)) {
      if (std::ranges::any_of(threads_, [tid](const Thread& thread) { return thread.tid == tid; })) continue;
      if (take(tid)) {
        found = true;
      } else if (const int error = errno; error != ESRCH && !has_exited(tid)) {
        std::string why = why_refused(pid, error);
        release();
        return Status::error(std::move(why));
      }
    }
  }
  if (threads_.empty()) return Status::error("it has ended");
  return {};
}

void HeldProcess::release() {
  for (const Thread& thread : threads_) {
    // A request that takes its signal as a pointer.
    ::ptrace(PTRACE_DETACH, thread.tid, nullptr, static_cast<std::uintptr_t>(thread.signal));
  }
  threads_.clear();
}

}  // namespace margay::command
