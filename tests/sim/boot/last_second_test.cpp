// Tests of LastSecond, the time limit for the last output of a process; each in a child process.
#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>

#include "sim/boot/last_second.hpp"

using namespace margay::sim;

namespace {

constexpr int kWrong = 40;

// The end of a child that runs `what`.
template <typename What>
int ended(What what) {
  const pid_t child = ::fork();
  if (child == 0) {
    what();
    ::_exit(kWrong);
  }
  int how = 0;
  REQUIRE(::waitpid(child, &how, 0) == child);
  return how;
}

sigset_t everything() {
  sigset_t all;
  sigfillset(&all);
  return all;
}

bool alarm_blocked() {
  sigset_t now;
  sigemptyset(&now);
  ::pthread_sigmask(SIG_BLOCK, nullptr, &now);
  return sigismember(&now, SIGALRM) == 1;
}

void sleep_ms(long ms) {
  timespec left{ms / 1000, ms % 1000 * 1'000'000};
  while (::nanosleep(&left, &left) != 0) continue;
}

void* wait_for_alarms(void* /*nothing*/) {
  sigset_t alarm_alone;
  sigemptyset(&alarm_alone);
  sigaddset(&alarm_alone, SIGALRM);
  for (int signal = 0;;) sigwait(&alarm_alone, &signal);
}

void own_handler(int /*signal*/) {}

}  // namespace

TEST_CASE("a process in its last second ends with its status, though it blocks signals and a thread waits for them") {
  const int how = ended([] {
    const sigset_t all = everything();
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, &wait_for_alarms, nullptr);
    const LastSecond last(7);
    sleep_ms(10'000);
  });
  CHECK(WIFEXITED(how));
  CHECK(WEXITSTATUS(how) == 7);
}

TEST_CASE("a process in its last second ends by a signal if its status would not be accepted") {
  const int how = ended([] {
    const LastSecond last(LastSecond::kKill);
    sleep_ms(10'000);
  });
  CHECK(WIFSIGNALED(how));
  CHECK(WTERMSIG(how) == SIGKILL);
}

TEST_CASE(
    "a process that wrote its last output in time continues, with its signals unchanged; others' alarms end nothing") {
  const int how = ended([] {
    const sigset_t all = everything();
    ::signal(SIGALRM, &own_handler);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    {
      const LastSecond last(1);
      ::raise(SIGALRM);
    }
    struct sigaction now {};
    ::sigaction(SIGALRM, nullptr, &now);
    const bool restored = now.sa_handler == &own_handler && alarm_blocked();
    sigset_t none;
    sigemptyset(&none);
    ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
    sleep_ms(1'300);
    ::_exit(restored ? 0 : kWrong + 1);
  });
  CHECK(WIFEXITED(how));
  CHECK(WEXITSTATUS(how) == 0);
}
