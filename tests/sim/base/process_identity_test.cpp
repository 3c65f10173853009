#include "sim/base/process_identity.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

using margay::sim::has_ended;
using margay::sim::own_process;
using margay::sim::ProcessIdentity;

namespace {

// A child process that sends its identity and then waits in pause() until it is killed: in its main thread, or in
// another one after the main thread has ended.
struct Child {
  ProcessIdentity who;
  pid_t pid = 0;
};

void* pause_for_ever(void* /*unused*/) {
  while (true) ::pause();
}

Child start(bool without_main_thread) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  Child child;
  child.pid = ::fork();
  if (child.pid == 0) {
    const ProcessIdentity me = own_process();
    pthread_t thread{};
    if (without_main_thread) pthread_create(&thread, nullptr, &pause_for_ever, nullptr);
    static_cast<void>(!::write(ends[1], &me, sizeof me));
    if (without_main_thread) ::syscall(SYS_exit, 0);  // this thread only
    pause_for_ever(nullptr);
  }
  REQUIRE(::read(ends[0], &child.who, sizeof child.who) == sizeof child.who);
  ::close(ends[0]);
  ::close(ends[1]);
  return child;
}

void wait_until(pid_t pid, int options) {
  siginfo_t info{};
  REQUIRE(::waitid(P_PID, static_cast<id_t>(pid), &info, options) == 0);
}

}  // namespace

TEST_CASE("process identity: it distinguishes a process that runs, stops, dies and is reaped") {
  const Child child = start(false);
  CHECK(child.who.pid == child.pid);
  CHECK(!has_ended(child.who));
  ::kill(child.pid, SIGSTOP);
  wait_until(child.pid, WSTOPPED | WNOWAIT);
  CHECK(!has_ended(child.who));
  ::kill(child.pid, SIGKILL);
  wait_until(child.pid, WEXITED | WNOWAIT);
  CHECK(has_ended(child.who));  // a zombie
  wait_until(child.pid, WEXITED);
  CHECK(has_ended(child.who));
}

TEST_CASE("process identity: a process without its main thread is alive") {
  const Child child = start(true);
  // Once its main thread has gone the process looks like a zombie; before that it runs. It never seems to have ended.
  for (int looks = 0; looks < 1000; ++looks) REQUIRE(!has_ended(child.who));
  ::kill(child.pid, SIGKILL);
  wait_until(child.pid, WEXITED | WNOWAIT);
  CHECK(has_ended(child.who));
  wait_until(child.pid, WEXITED);
}

TEST_CASE("process identity: a number of another process, and an unknown one") {
  ProcessIdentity before = own_process();
  CHECK(before.pid == ::getpid());
  CHECK(!has_ended(before));
  before.start_ticks -= 1;
  CHECK(has_ended(before));
  CHECK(!has_ended(ProcessIdentity{}));
}
