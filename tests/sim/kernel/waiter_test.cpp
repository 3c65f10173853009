// Tests of the events that count as progress of a wait, on a virtual clock: arrivals, and parts of bodies that this
// process copies or that another rank reads from its memory.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "sim/base/clock.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/kernel/waiter.hpp"
#include "tests/sim/shm_set.hpp"

namespace margay::sim::test {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// A scripted wire that delivers parts of a body without an arrival, or has a body that its receiver reads.
class SlowWire final : public Wire {
 public:
  SlowWire() : Wire(WireId::shm) { needs_push_ = false; }
  void bring_part() { ++parts_; }
  void read_on() { ++read_on_; }
  int nudges = 0;  // calls that wake a rank which owes this process an answer

  [[nodiscard]] bool try_send(std::uint32_t, const portals::Header&, const portals::Region&) override { return false; }
  void send(std::uint32_t, Transmission&) override {}
  void stop(std::uint32_t, Transmission&) override {}
  [[nodiscard]] bool replace(std::uint32_t, Transmission&, Transmission&) override { return false; }
  bool push() override { return false; }
  [[nodiscard]] bool poll(Arrival&) override {
    body_moved_ |= parts_ != 0;
    parts_ = 0;
    return false;
  }
  void consume() override {}
  void hold() override {}
  void accept(const portals::Region&, void*) override {}
  void refuse() override {}
  [[nodiscard]] bool idle() const override { return true; }
  void nudge(std::uint32_t) override { ++nudges; }
  [[nodiscard]] std::uint64_t bodies_read_on() const override { return read_on_; }

 private:
  int parts_ = 0;
  std::uint64_t read_on_ = 0;
};

// A yield policy on the virtual clock: each yield takes a second, or the time that the test sets.
class SecondsPolicy final : public YieldPolicy {
 public:
  explicit SecondsPolicy(VirtualClock& clock) : clock_(clock) {}
  std::uint64_t takes_ns = kSecond;
  void yield(std::uint64_t ns) override {
    clock_.advance_ns(takes_ns);
    naps += ns != 0 ? 1 : 0;
  }
  int naps = 0;  // yields that sleep

 private:
  VirtualClock& clock_;
};

struct Waiting {
  // One round of a wait.
  void round() {
    REQUIRE_FALSE(kernel.progress());
    waiter.idle();
  }
  // Makes empty rounds; returns the longest idle time that a stall report would contain.
  std::uint64_t rounds(int count) {
    std::uint64_t longest = 0;
    for (int i = 0; i < count; ++i) {
      round();
      longest = std::max(longest, waiter.idle_ns());
    }
    return longest;
  }

  VirtualClock clock{kSecond};
  SecondsPolicy rest{clock};
  SlowWire wire;
  TransmissionList finished;
  Recorder recorder{clock};
  Kernel kernel{{0, 0}, {{&wire}}, finished, recorder};
  WaitMeans means{.policy = WaitPolicy::yield, .reason = {}, .may_sleep = false, .yield_policy = &rest};
  Waiter waiter{kernel, clock, means};
};

TEST_CASE("a program that polls repeatedly wakes the ranks that owe it an answer, and no others") {
  constexpr int kPolls = 10'000;
  Waiting look;
  for (int i = 0; i < kPolls; ++i) look.kernel.count_empty_poll();
  CHECK_EQ(look.wire.nudges, 0);
  look.kernel.expect_answer(0);
  for (int i = 0; i < kPolls; ++i) look.kernel.count_empty_poll();
  CHECK_GT(look.wire.nudges, 10);
  CHECK_LT(look.wire.nudges, kPolls / 10);
  look.kernel.count_answer(0);
}

TEST_CASE("waiter: without progress the idle time grows") {
  Waiting wait;
  CHECK_GT(wait.rounds(1000), 500 * kSecond);
}

// Beside busy programs a yield lasts a turn of each of them.
TEST_CASE("waiter: after two long yields it wakes the ranks that owe it an answer") {
  Waiting wait;
  wait.rest.takes_ns = 8'000'000;
  wait.kernel.expect_answer(0);
  wait.rounds(2);
  CHECK_GE(wait.wire.nudges, 1);
  wait.kernel.count_answer(0);
}

// Code that waits for a number of polls (64 in collectives/portal/shown) must not wait for as many full sleeps.
TEST_CASE("waiter: sleeps are short at first, a twentieth of the wait later, and half a second at last") {
  Waiting wait;
  REQUIRE(wait.recorder.open_memory().ok());
  wait.means.may_sleep = true;
  std::vector<std::uint64_t> slices;
  const auto latest = [&] {
    std::uint64_t slice = 0;
    for (const TraceEvent& event : wait.recorder.events()) {
      if (event.kind == TraceKind::sleep) slice = event.detail;
    }
    wait.recorder.clear();
    return slice;
  };
  for (int round = 0; round < 2000; ++round) {
    wait.rest.takes_ns = slices.empty() ? 7'000'000 : slices.back();
    wait.round();
    if (const std::uint64_t slice = latest(); slice != 0) slices.push_back(slice);
  }
  REQUIRE_GT(slices.size(), 64);
  CHECK_LE(slices.front(), 2'000'000);
  CHECK(std::is_sorted(slices.begin(), slices.end()));
  CHECK_LT(std::accumulate(slices.begin(), slices.begin() + 64, std::uint64_t{0}), kSecond);
  CHECK_EQ(slices.back(), Waiter::kSleepSliceNs);
}

TEST_CASE("waiter: a body that arrives in parts is no stall, at any speed, and does not change the wait's patience") {
  Waiting wait;
  wait.rounds(100);
  const int naps = wait.rest.naps;
  for (int part = 0; part < 20; ++part) {
    wait.wire.bring_part();
    wait.round();
    CHECK_EQ(wait.waiter.idle_ns(), 0);
    CHECK_LT(wait.rounds(50), 60 * kSecond);
  }
  CHECK_GE(wait.rest.naps, naps + 20);
  CHECK_GT(wait.rounds(1000), 500 * kSecond);
}

TEST_CASE("waiter: a body that another process reads is no stall, and no reason to stay awake") {
  Waiting wait;
  for (int part = 0; part < 20; ++part) {
    wait.wire.read_on();
    CHECK_LT(wait.rounds(50), 100 * kSecond);
  }
  CHECK_GE(wait.rest.naps, 20);
  CHECK_GT(wait.rounds(1000), 500 * kSecond);
}

TEST_CASE("waiter: the sender's kernel detects that its body is being read, in each visit") {
  constexpr std::size_t kBytes = 3 << 20;  // several visits
  ShmSet set(2, LongMethod::cma);
  const VirtualClock clock(kSecond);
  Recorder recorder(clock);
  Kernel sender({0, 0}, {{&set.wire(0), &set.wire(0)}}, set.finished(0), recorder);
  std::vector<std::byte> body = pattern_body(1, kBytes);
  std::vector<std::byte> landing(kBytes);
  Transmission out;
  out.header.destination = {0, 1};
  out.header.length = kBytes;
  out.body = portals::Region(body.data(), kBytes);
  out.owner_tag_kind = kOwnerKernel + 1;
  sender.send(out);
  Arrival arrival;
  REQUIRE(set.wire(1).poll(arrival));
  REQUIRE(arrival.kind == Arrival::Kind::started);
  CHECK_FALSE(set.wire(1).take_body_moved());
  std::uint64_t before = sender.bodies_read_on();
  set.wire(1).accept(portals::Region(landing.data(), kBytes), nullptr);
  int visits = 0;
  for (;; ++visits) {
    CHECK(set.wire(1).take_body_moved());
    const std::uint64_t now = sender.bodies_read_on();
    if (set.wire(1).poll(arrival)) break;
    CHECK_NE(now, std::exchange(before, now));
  }
  CHECK(arrival.kind == Arrival::Kind::finished);
  CHECK_GE(visits, 4);
  CHECK(sender.progress());
  CHECK(sender.next_finished() == &out);
  CHECK(landing == body);
}

}  // namespace
}  // namespace margay::sim::test
