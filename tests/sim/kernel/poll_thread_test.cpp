// Tests of the thread that blocks on a wire's descriptor, over a pipe. Waits have no time limit of their own: a thread
// that does not wake hangs the test, which its runner ends.
#include "sim/kernel/poll_thread.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace margay::sim {
namespace {

struct Pipe {
  Pipe() { REQUIRE(::pipe2(ends.data(), O_NONBLOCK | O_CLOEXEC) == 0); }
  ~Pipe() {
    ::close(ends[0]);
    ::close(ends[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void put() const { REQUIRE(::write(ends[1], "x", 1) == 1); }
  void take() const {
    char byte = 0;
    REQUIRE(::read(ends[0], &byte, 1) == 1);
  }
  std::array<int, 2> ends{};
};

TEST_CASE("poll thread: it marks a wire as due and wakes the process, once until the wire was polled") {
  Pipe pipe;
  std::atomic<int> wakes{0};
  PollThread thread;
  REQUIRE(thread.start(pipe.ends[0], [&wakes] { ++wakes; }).ok());
  CHECK_FALSE(thread.due());
  for (int message = 1; message <= 20; ++message) {
    pipe.put();
    while (wakes.load() < message) ::sched_yield();
    CHECK(thread.due());
    // The descriptor is readable all the time, but the thread does not look at it.
    pipe.put();
    pipe.take();
    CHECK(wakes.load() == message);
    pipe.take();
    thread.polled();
    CHECK_FALSE(thread.due());
  }
}

TEST_CASE("poll thread: what arrives during the poll makes the wire due again") {
  Pipe pipe;
  std::atomic<int> wakes{0};
  PollThread thread;
  REQUIRE(thread.start(pipe.ends[0], [&wakes] { ++wakes; }).ok());
  pipe.put();
  while (!thread.due()) ::sched_yield();
  pipe.put();
  pipe.take();
  thread.polled();  // one is left
  while (wakes.load() < 2) ::sched_yield();
  while (!thread.due()) ::sched_yield();
  CHECK(thread.due());
}

TEST_CASE("poll thread: it ends while it blocks, while the wire is due, and without a start") {
  Pipe pipe;
  { const PollThread unused; }
  {
    PollThread blocked;
    REQUIRE(blocked.start(pipe.ends[0], [] {}).ok());
    blocked.polled();  // was not due
  }
  PollThread due;
  REQUIRE(due.start(pipe.ends[0], [] {}).ok());
  pipe.put();
  while (!due.due()) ::sched_yield();
}

}  // namespace
}  // namespace margay::sim
