// Tests of the detection of silent TCP connections, from the operating system's figures and a virtual clock.
#include "sim/wire/tcp/tcp_silence.hpp"

#include <doctest/doctest.h>

#include "sim/base/clock.hpp"

namespace margay::sim::test {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;

// A connection that the test examines each second.
struct ExaminedConnection {
  VirtualClock clock{1000 * kSecondNs};
  std::uint64_t answered_ns = clock.now_ns();
  TcpAnswers kernel{};
  TcpSilence silence{};

  void answer() {
    answered_ns = clock.now_ns();
    kernel.window_probes = 0;
  }
  bool look() {
    kernel.last_ns = clock.now_ns() - answered_ns;
    return silence.look(kernel, clock.now_ns());
  }
  // Returns the number of seconds after which the connection counts as silent; `limit` if it does not within `limit`.
  int silent_after(int limit) {
    for (int second = 0; second < limit; ++second, clock.advance_ns(kSecondNs)) {
      if (look()) return second;
    }
    return limit;
  }
};

TEST_CASE("tcp silence: data in flight without an acknowledgment is detected within 15 s") {
  ExaminedConnection link;
  link.kernel = {.acknowledged_bytes = 700, .in_flight = 3};
  CHECK_EQ(link.silent_after(100), 12);
  static_assert(kSilenceMaxNs + 2 * kSilenceCheckNs < 15 * kSecondNs);
}

TEST_CASE("tcp silence: for a link that recovers after 5 s the measurement restarts") {
  ExaminedConnection link;
  link.kernel = {.acknowledged_bytes = 700, .in_flight = 3};
  CHECK_EQ(link.silent_after(5), 5);
  link.answer();
  link.kernel.acknowledged_bytes += 100;
  CHECK_EQ(link.silent_after(100), 12);
}

TEST_CASE(
    "tcp silence: an idle connection is not silent, and after a long rest the limit counts from the first bytes") {
  ExaminedConnection link;
  CHECK_EQ(link.silent_after(60), 60);  // without data in flight only keepalive detects a loss
  link.kernel.in_flight = 1;
  CHECK_EQ(link.silent_after(100), 12);
}

TEST_CASE("tcp silence: different bytes in flight at each of several distant polls are not silence") {
  ExaminedConnection link;
  for (int i = 0; i < 5; ++i, link.clock.advance_ns(60 * kSecondNs)) {
    link.kernel.in_flight = 1;
    CHECK_FALSE(link.look());
    link.answer();
    link.kernel.acknowledged_bytes += 8;
  }
}

TEST_CASE("tcp silence: the second of two distant polls detects silence") {
  ExaminedConnection link;
  link.kernel.in_flight = 1;
  CHECK_FALSE(link.look());
  link.clock.advance_ns(40 * kSecondNs);
  CHECK(link.look());
}

TEST_CASE("tcp silence: acknowledgments of bytes other than the first are answers") {
  ExaminedConnection link;
  link.kernel.in_flight = 40;
  for (int second = 0; second < 60; ++second, link.clock.advance_ns(kSecondNs)) {
    if (second % 5 == 0) link.answer();  // the peer still lacks the same first bytes
    CHECK_FALSE(link.look());
  }
}

TEST_CASE("tcp silence: a stopped peer's closed window is answered by its kernel") {
  ExaminedConnection link;
  int pause = 1;
  for (int second = 0, probe = 1; second < 300; ++second, link.clock.advance_ns(kSecondNs)) {
    if (second == probe) {  // the answer arrives after this poll
      link.kernel.window_probes = 1;
      CHECK_FALSE(link.look());
      link.answer();
      pause = pause * 2 < 120 ? pause * 2 : 120;
      probe += pause;
    }
    CHECK_FALSE(link.look());
  }
}

TEST_CASE("tcp silence: one lost probe of a window that was closed for long is not yet silence, three are") {
  ExaminedConnection link;
  link.kernel.window_probes = 1;
  CHECK_EQ(link.silent_after(50), 50);
  link.answer();
  CHECK_FALSE(link.look());
  link.kernel.window_probes = 1;
  CHECK_EQ(link.silent_after(6), 6);
  link.kernel.window_probes = 3;
  CHECK_EQ(link.silent_after(100), 6);
}

}  // namespace
}  // namespace margay::sim::test
