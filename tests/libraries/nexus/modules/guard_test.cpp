// Tests of the guard around calls of foreign modules.
#include "libraries/nexus/modules/guard.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "tests/libraries/nexus/modules/ending.hpp"

namespace margay::nexus::test {

using core::CrashGuard;

TEST_CASE("a crash inside names the innermost call, one outside names none") {
  const Ending inside = ending_of([] {
    core::watch_crashes();
    const CrashGuard outer("one", "poll()");
    const CrashGuard inner("two", "send()");
    std::raise(SIGFPE);
  });
  CHECK(inside.failed);
  CHECK(inside.text.find("two") != std::string::npos);
  CHECK(inside.text.find("send()") != std::string::npos);
  CHECK(inside.text.find("one") == std::string::npos);
  const Ending outside = ending_of([] {
    core::watch_crashes();
    core::watch_crashes();  // once more changes nothing
    { const CrashGuard guard("one", "poll()"); }
    std::raise(SIGFPE);
  });
  CHECK(outside.failed);
  CHECK(outside.text.find("margay") == std::string::npos);
}

TEST_CASE("a call that returns in time is not disturbed") {
  const Ending ending = ending_of([] {
    for (int i = 0; i < 20; ++i) {
      const core::TimeGuard guard("one", "init()");
    }
  });
  CHECK_FALSE(ending.failed);
  CHECK(ending.text == "");
}

// A handler that the program expects on its own threads.
TEST_CASE("the thread that limits a call takes no signal of the program") {
  static volatile std::sig_atomic_t taken = 0;
  struct sigaction action {};
  struct sigaction former {};
  action.sa_handler = [](int) { taken = 1; };
  sigaction(SIGUSR1, &action, &former);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  sigset_t pending;
  {
    const core::TimeGuard guard("one", "init()");
    pthread_sigmask(SIG_BLOCK, &one, nullptr);
    kill(getpid(), SIGUSR1);
    usleep(20'000);
    CHECK(taken == 0);
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGUSR1) == 1);
  }
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  CHECK(taken == 1);
  sigaction(SIGUSR1, &former, nullptr);
}

TEST_CASE("the limit of a call") {
  unsetenv("MARGAY_NEXUS_MODULE_LIMIT_MS");
  const long usual = core::guard_limit_ms();
  CHECK(usual > 1000);
  setenv("MARGAY_NEXUS_MODULE_LIMIT_MS", "1234", 1);
  CHECK(core::guard_limit_ms() == 1234);
  setenv("MARGAY_NEXUS_MODULE_LIMIT_MS", "-1", 1);
  CHECK(core::guard_limit_ms() == usual);
  unsetenv("MARGAY_NEXUS_MODULE_LIMIT_MS");
}

}  // namespace margay::nexus::test
