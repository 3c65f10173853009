#include "command/run/process/spawn.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "command/run/program/program.hpp"

namespace margay::command {

namespace {

using portals::Status;

// The step at which a child failed, for the error message.
enum class Step { none, group, directory, descriptors, exec };

// Data shared by launcher and child, which run in one address space until exec. The launcher is suspended meanwhile, so
// no lock is needed.
struct Shared {
  const SpawnRequest* request = nullptr;
  const SavedProcess* saved = nullptr;
  char** argv = nullptr;
  char** environment = nullptr;
  pid_t launcher = 0;
  Step failed_step = Step::none;
  int error = 0;
};

// Runs in the child. `shared` is in the launcher's memory; the launcher reads it after the clone returns.
[[noreturn]] void give_up(Shared& shared, Step step) {
  shared.failed_step = step;
  shared.error = errno;
  ::_exit(127);
}

// Undoes take_signals(): a rank inherits ignored signals and the mask over exec.
void restore_signals(const SavedProcess& saved) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  if (!saved.sigpipe_ignored) static_cast<void>(::sigaction(SIGPIPE, &standard, nullptr));
  if (!saved.sigxfsz_ignored) static_cast<void>(::sigaction(SIGXFSZ, &standard, nullptr));
  static_cast<void>(::sigaction(SIGTTIN, &standard, nullptr));
  static_cast<void>(::sigaction(SIGTTOU, &standard, nullptr));
  static_cast<void>(::sigprocmask(SIG_SETMASK, &saved.signal_mask, nullptr));
}

// Runs in the child, in the launcher's memory: system calls only, no allocation, and no write to the launcher's data
// except Shared.
int child_main(void* argument) {
  Shared& shared = *static_cast<Shared*>(argument);
  const SpawnRequest& request = *shared.request;
  // The launcher may have died before the prctl() took effect; then no signal would ever arrive.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != shared.launcher) ::_exit(127);
  if (request.process_group != 0 && ::setpgid(0, request.process_group) != 0) give_up(shared, Step::group);
  const bool redirected = ::dup2(request.standard_input, 0) >= 0 && ::dup2(request.standard_output, 1) >= 0 &&
                          ::dup2(request.standard_error, 2) >= 0;
  if (!redirected) give_up(shared, Step::descriptors);
  for (int descriptor : request.inherited) {
    if (::fcntl(descriptor, F_SETFD, 0) != 0) give_up(shared, Step::descriptors);
  }
  if (!request.working_directory.empty() && ::chdir(request.working_directory.c_str()) != 0) {
    give_up(shared, Step::directory);
  }
  if (!request.processors.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int processor : request.processors) CPU_SET(static_cast<unsigned>(processor), &set);
    // Binding is best effort.
    static_cast<void>(::sched_setaffinity(0, sizeof set, &set));
  }
  // The former limit is restored after the descriptors are in place, because their numbers may exceed it.
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &shared.saved->descriptors));
  restore_signals(*shared.saved);
  ::execve(request.path.c_str(), shared.argv, shared.environment);
  give_up(shared, Step::exec);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// The cure for a failed exec. The program's file existed and was executable when it was checked.
std::string cure_of_exec_error(int error) {
  if (error == ENOENT)
    return "; the file exists, but its interpreter does not: correct the path in its first line (#!), or install "
           "the loader that it was linked for";
  if (error == ENOEXEC)
    return "; it is neither a program of this machine nor a script with a first line such as #!/bin/sh";
  return {};
}

Status explain(const Shared& shared) {
  const SpawnRequest& request = *shared.request;
  const std::string why = std::strerror(shared.error);
  switch (shared.failed_step) {
    case Step::directory:
      return Status::error("cannot enter the working folder " + request.working_directory + ": " + why);
    case Step::exec:
      return Status::error("cannot run " + request.path + ": " + why + cure_of_exec_error(shared.error));
    case Step::group:
      return Status::error("cannot put " + request.path + " into the job's process group: " + why);
    default:
      return Status::error("cannot hand descriptors to " + request.path + ": " + why);
  }
}

}  // namespace

// All strings are built before the clone, because the child must not allocate.
Status spawn(const SpawnRequest& request, const SavedProcess& saved, pid_t& pid, int& exit_status) {
  std::vector<char*> argv = pointers(request.argv);
  std::vector<char*> environment = pointers(request.environment);
  Shared shared;
  shared.request = &request;
  shared.saved = &saved;
  shared.argv = argv.data();
  shared.environment = environment.data();
  shared.launcher = ::getpid();
  constexpr std::size_t kStackBytes = std::size_t{64} * 1024;
  // One stack serves all starts: CLONE_VFORK suspends the launcher until the child no longer uses the stack.
  static thread_local std::vector<char> stack(kStackBytes);
  pid = ::clone(child_main, stack.data() + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &shared);
  if (pid < 0) {
    return Status::error("cannot start " + request.path + ": " + std::strerror(errno) +
                         (errno == EAGAIN ? " (the limit on processes, ulimit -u)" : ""));
  }
  if (shared.failed_step == Step::none) return {};
  if (shared.failed_step == Step::exec) exit_status = shared.error == ENOENT ? kStatusNotFound : kStatusCannotRun;
  return explain(shared);
}

namespace {

// Reads the mask SigCgt of /proc/PID/status; false if it cannot be read.
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

// Only allowed processors count, as in a container with a restricted set.
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
  int before = 0;
  for (int pid : pids) {
    // The ranks of one process are neighbours in the list.
    if (std::exchange(before, pid) == pid) continue;
    // An unreaped child keeps its number.
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
  // The handle is opened before the checks, so it refers to the process that they examine, even if the number is
  // reused.
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0U));
  bool sent = false;
  if (!sim::has_ended(process) && catches_signal(process.pid, signal)) {
    // Without handles (before Linux 5.3, or a seccomp filter) a short race remains.
    sent = handle >= 0 ? ::syscall(SYS_pidfd_send_signal, handle, signal, nullptr, 0U) == 0
                       : ::kill(process.pid, signal) == 0;
  }
  if (handle >= 0) ::close(handle);
  return sent;
}

// Consumes all pending changes, because SIGCHLD is not queued.
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
