#include "command/run/process/spawn.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

using margay::command::signal_if_caught;
namespace sim = margay::sim;

namespace {

constexpr int kAsked = 3;

// A child that sends its identity and waits for signals; if it catches one, it ends with status kAsked.
sim::ProcessIdentity start(bool catches) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (catches) std::signal(SIGUSR1, [](int) { ::_exit(kAsked); });
    const sim::ProcessIdentity me = sim::own_process();
    static_cast<void>(!::write(ends[1], &me, sizeof me));
    while (true) ::pause();
  }
  sim::ProcessIdentity child;
  REQUIRE(::read(ends[0], &child, sizeof child) == sizeof child);
  REQUIRE(child.pid == pid);
  ::close(ends[0]);
  ::close(ends[1]);
  return child;
}

int status_of(const sim::ProcessIdentity& child) {
  int status = 0;
  REQUIRE(::waitpid(child.pid, &status, 0) == child.pid);
  return status;
}

}  // namespace

TEST_CASE("a process gets a signal that it catches") {
  const sim::ProcessIdentity child = start(true);
  CHECK(signal_if_caught(child, SIGUSR1));
  CHECK(WEXITSTATUS(status_of(child)) == kAsked);
  CHECK(!signal_if_caught(child, SIGUSR1));
}

TEST_CASE("a signal is not sent to a process that would die of it, nor to another process with the same number") {
  for (const bool catches : {false, true}) {
    const sim::ProcessIdentity child = start(catches);
    const sim::ProcessIdentity earlier{child.pid, child.start_ticks - 1};
    CHECK(!signal_if_caught(catches ? earlier : child, SIGUSR1));
    CHECK(!signal_if_caught({child.pid, 0}, SIGUSR1));  // start time not known yet
    ::kill(child.pid, SIGKILL);
    CHECK(WTERMSIG(status_of(child)) == SIGKILL);
  }
}

TEST_CASE("of several ended children, those killed by a signal are reported first") {
  // The kernel lists children in the order in which they began.
  const auto end = [](auto how) {
    const pid_t pid = ::fork();
    if (pid == 0) how();
    siginfo_t info{};
    REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) == 0);
    return pid;
  };
  const pid_t exited = end([] { ::_exit(kAsked); });
  const pid_t killed = end([] { ::kill(::getpid(), SIGKILL); });
  const std::vector<margay::command::ChildChange> changed = margay::command::changed_children();
  REQUIRE(changed.size() == 2);
  CHECK(changed[0].pid == killed);
  CHECK(changed[0].code == CLD_KILLED);
  CHECK(changed[0].value == SIGKILL);
  CHECK(changed[1].pid == exited);
  CHECK(changed[1].code == CLD_EXITED);
  CHECK(changed[1].value == kAsked);
  CHECK(margay::command::changed_children().empty());
}
