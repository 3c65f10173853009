#include "command/run/process/guardian.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace margay::command {
namespace {

using portals::Status;

// The guardian's main function: waits for the end of the pipe, then kills its group, itself included.
[[noreturn]] void stand_guard(int lifeline, int launchers_end) {
  // This end is closed explicitly. Otherwise, where close_range is refused, the guardian would keep its own lifeline
  // open and never see the launcher's death.
  ::close(launchers_end);
  ::setpgid(0, 0);
  ::prctl(PR_SET_NAME, "margay-guardian");
  sigset_t all;
  sigfillset(&all);
  // Ctrl-C reaches the whole group, and the guardian must outlast it.
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // A reader of the launcher's output must not wait until the guardian closes it, so all descriptors but the lifeline
  // are closed.
  ::dup2(lifeline, 3);
  ::close(0);
  ::close(1);
  ::close(2);
  ::syscall(SYS_close_range, 4U, ~0U, 0U);
  char byte = 0;
  // Nothing is ever written: the read returns when the launcher's end is closed.
  while (::read(3, &byte, 1) < 0 && errno == EINTR) {
  }
  ::kill(0, SIGKILL);
  ::_exit(0);
}

}  // namespace

Status Guardian::start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Status::error(std::string("cannot make a pipe: ") + std::strerror(errno));
  pid_ = ::fork();
  if (pid_ < 0) return Status::error(std::string("cannot start the guardian process: ") + std::strerror(errno));
  if (pid_ == 0) stand_guard(ends[0], ends[1]);
  // Parent and child both set the group, so that neither depends on the other's progress.
  ::setpgid(pid_, pid_);
  ::close(ends[0]);
  lifeline_ = ends[1];
  return {};
}

void Guardian::signal_group(int signal) const {
  if (pid_ > 0) ::kill(-pid_, signal);
}

void Guardian::dismiss() {
  if (pid_ <= 0) return;
  // This kill does not wait for the guardian, so the group has been killed when dismiss() returns.
  ::kill(-pid_, SIGKILL);
  ::close(lifeline_);
  pid_ = -1;
}

}  // namespace margay::command
