#include "command/run/process/spawn.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "command/run/program/program.hpp"

namespace margay::command {
namespace {

using portals::Status;

// The step at which a child gave up, for the sentence.
enum class Step { kNone, kGroup, kDirectory, kDescriptors, kExec };

// Shared by launcher and child, which run in one address space until exec; the launcher waits meanwhile.
struct Shared {
  const SpawnRequest* request = nullptr;
  const SavedProcess* saved = nullptr;
  char** argv = nullptr;
  char** environment = nullptr;
  pid_t launcher = 0;
  Step failed_step = Step::kNone;
  int error = 0;
};

[[noreturn]] void give_up(Shared& shared, Step step) {
  shared.failed_step = step;
  shared.error = errno;
  ::_exit(127);
}

void restore_signals(const SavedProcess& saved) {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  if (!saved.sigpipe_ignored) static_cast<void>(::sigaction(SIGPIPE, &standard, nullptr));
  if (!saved.sigxfsz_ignored) static_cast<void>(::sigaction(SIGXFSZ, &standard, nullptr));
  static_cast<void>(::sigaction(SIGTTIN, &standard, nullptr));
  static_cast<void>(::sigaction(SIGTTOU, &standard, nullptr));
  static_cast<void>(::sigprocmask(SIG_SETMASK, &saved.signal_mask, nullptr));
}

// Runs in the child, in the launcher's memory: system calls only, no allocation, nothing of the launcher's is changed
// but Shared.
int child_main(void* argument) {
  Shared& shared = *static_cast<Shared*>(argument);
  const SpawnRequest& request = *shared.request;
  // The launcher may have died before the kernel knew of the wish; then nobody will ever send the signal.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != shared.launcher) ::_exit(127);
  if (request.process_group != 0 && ::setpgid(0, request.process_group) != 0) give_up(shared, Step::kGroup);
  const bool redirected = ::dup2(request.standard_input, 0) >= 0 && ::dup2(request.standard_output, 1) >= 0 &&
                          ::dup2(request.standard_error, 2) >= 0;
  if (!redirected) give_up(shared, Step::kDescriptors);
  for (int descriptor : request.inherited) {
    if (::fcntl(descriptor, F_SETFD, 0) != 0) give_up(shared, Step::kDescriptors);
  }
  if (!request.working_directory.empty() && ::chdir(request.working_directory.c_str()) != 0) {
    give_up(shared, Step::kDirectory);
  }
  if (request.processor >= 0) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<unsigned>(request.processor), &set);
    static_cast<void>(::sched_setaffinity(0, sizeof set, &set));  // a wish, not a condition
  }
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &shared.saved->descriptors));
  restore_signals(*shared.saved);
  ::execve(request.path.c_str(), shared.argv, shared.environment);
  give_up(shared, Step::kExec);
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

// The program's file was there and executable when it was looked for.
std::string mend_of_exec(int error) {
  if (error == ENOENT)
    return "; the file is there, what runs it is not: mend the path in its first line (#!), or install "
           "the loader that it was linked for";
  if (error == ENOEXEC)
    return "; it is neither a program of this machine nor a script with a first line such as #!/bin/sh";
  return {};
}

Status explain(const Shared& shared) {
  const SpawnRequest& request = *shared.request;
  const std::string why = std::strerror(shared.error);
  switch (shared.failed_step) {
    case Step::kDirectory:
      return Status::error("cannot enter the working folder " + request.working_directory + ": " + why);
    case Step::kExec:
      return Status::error("cannot run " + request.path + ": " + why + mend_of_exec(shared.error));
    case Step::kGroup:
      return Status::error("cannot put " + request.path + " into the job's process group: " + why);
    default:
      return Status::error("cannot hand descriptors to " + request.path + ": " + why);
  }
}

}  // namespace

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
  static thread_local std::vector<char> stack(kStackBytes);
  pid = ::clone(child_main, stack.data() + kStackBytes, CLONE_VM | CLONE_VFORK | SIGCHLD, &shared);
  if (pid < 0) {
    return Status::error("cannot start " + request.path + ": " + std::strerror(errno) +
                         (errno == EAGAIN ? " (the limit on processes, ulimit -u)" : ""));
  }
  if (shared.failed_step == Step::kNone) return {};
  if (shared.failed_step == Step::kExec) exit_status = shared.error == ENOENT ? kStatusNotFound : kStatusCannotRun;
  return explain(shared);
}

}  // namespace margay::command
