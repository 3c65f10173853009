// Tests of the detection of other programs' load during a measurement.
#include "command/calibrate/measurement.hpp"

#include <doctest/doctest.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

namespace margay::command {
namespace {

double cpu_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

// A tick of the system's clock is a hundredth of a second.
void work(double s) {
  const double until = cpu_seconds() + s;
  while (cpu_seconds() < until) continue;
}

TEST_CASE("a child counts as another program while it runs, and as this one after it has ended") {
  int go[2];
  REQUIRE(::pipe(go) == 0);
  const OtherLoad others;
  const pid_t child = ::fork();
  if (child == 0) {
    work(0.5);
    char byte = 0;
    static_cast<void>(!::write(go[1], &byte, 1));
    ::pause();
  }
  REQUIRE(child > 0);
  char byte = 0;
  REQUIRE(::read(go[0], &byte, 1) == 1);
  const double before = others.share();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  CHECK_GT(before, others.share());
  CHECK_GE(others.share(), 0.0);
  CHECK_LE(before, 1.0);
  ::close(go[0]);
  ::close(go[1]);
}

}  // namespace
}  // namespace margay::command
