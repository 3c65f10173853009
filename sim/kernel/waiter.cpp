#include "sim/kernel/waiter.hpp"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

namespace margay::sim {

namespace {

// Rounds between looks at the clock of a rank that yields.
constexpr std::uint32_t kYieldRounds = 16;
// A yielding rank's peers are slow because they wait for a processor, not because they compute.
constexpr std::uint64_t kNudgeAfterYieldingNs = 40 * kNudgeAfterNs;
constexpr std::uint64_t kNudgeAtMostEachNs = 10'000'000;
// A yield that takes this long gave the processor to somebody: one that finds nobody is a system call of less than 1
// us.
constexpr std::uint64_t kTurnOfAnotherNs = 50'000;
// How long that is believed: each look may cost a turn of everybody who waits for the processor, 3 ms each.
constexpr std::uint64_t kBelievedNs = 200'000'000;

}  // namespace

void give_processor_up(std::uint64_t ns) {
  if (ns == 0) {
    sched_yield();
    return;
  }
  const timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  nanosleep(&time, nullptr);
}

// The next part may be here already, so no sleep now. How patient the wait is stays: through a ring, a part comes when
// its sender has the processor, and who spun for each anew would keep it from it.
void Waiter::body_moved() {
  wake_up();
  stalled_since_ns_ = stalled_ns_ = 0;
}

void Waiter::pause() {
  if (about_to_sleep_) {
    if (means_.may_sleep) return sleep();
    wake_up();  // another thread has joined since
  }
  const bool yielding = means_.policy == WaitPolicy::yield;
  // Who owes something may be computing on every other processor: its coprocessor needs this one.
  owed_ = idle_ns_ >= kNudgeAfterNs && kernel_.unfinished();
  if (yielding || owed_) {
    give_up(0);
    kernel_.time_passed();
  }
  if (rounds_ % (yielding ? kYieldRounds : kSpinRounds) == 0) look_at_clock();
}

void Waiter::look_at_clock() {
  const std::uint64_t now = clock_.now_ns();
  const std::uint64_t patience = means_.policy == WaitPolicy::yield ? kNudgeAfterYieldingNs : kNudgeAfterNs;
  if (since_ns_ == 0) {
    since_ns_ = now;
    next_nudge_ns_ = patience;
  }
  idle_ns_ = now - since_ns_;
  if (stalled_since_ns_ == 0) stalled_since_ns_ = now;
  stalled_ns_ = now - stalled_since_ns_;
  if (idle_ns_ >= next_nudge_ns_) {
    kernel_.nudge();
    next_nudge_ns_ = idle_ns_ + std::min(std::max(idle_ns_, patience), kNudgeAtMostEachNs);
  }
  if (means_.policy == WaitPolicy::spin && means_.may_sleep && idle_ns_ >= kNudgeAfterNs) look_for_company(now);
  if (!sleeps()) return;
  // A body that another process reads out of our memory: no reason to stay awake, and no stall.
  const std::uint64_t before = std::exchange(read_on_, kernel_.bodies_read_on());
  if (before != read_on_) stalled_since_ns_ = now;
  if (!means_.may_sleep) {
    give_up(kNudgeAfterNs);
    return;
  }
  if (means_.bell != nullptr) means_.bell->begin_sleep();
  about_to_sleep_ = true;  // the caller looks once more, and only then idle() sleeps
}

// Who sleeps is woken to run soon; who yields or spins on a processor that others want waits for a whole turn. Of
// several threads none sleeps on the bell, and what it waits for here may be its own rank's lock.
void Waiter::look_for_company(std::uint64_t now) {
  wanted_ = wanted_ || now < means_.wanted_until_ns;
  if (wanted_) return;
  give_up(0);
  kernel_.time_passed();
  const std::uint64_t after = clock_.now_ns();
  wanted_ = after - now >= kTurnOfAnotherNs;
  if (wanted_) means_.wanted_until_ns = after + kBelievedNs;
}

// While something is owed, the sleep is short: who owes it may need another nudge.
void Waiter::sleep() {
  const std::uint64_t slice_ns = kernel_.unfinished() ? kNudgeAtMostEachNs : kSleepSliceNs;
  std::array<pollfd, kWireCount + 1> descriptors{};
  nfds_t count = 0;
  bool something = false;
  for (Wire* wire : kernel_.wires()) {
    if (wire->wait_descriptor() < 0) continue;
    something |= wire->prepare_wait();
    descriptors[count++] = {wire->wait_descriptor(), POLLIN, 0};
  }
  if (!something) {
    if (kernel_.recorder().on()) kernel_.recorder().record({.kind = TraceKind::sleep, .detail = slice_ns});
    if (count > 0) {
      if (means_.wake_descriptor >= 0) descriptors[count++] = {means_.wake_descriptor, POLLIN, 0};
      static_cast<void>(poll(descriptors.data(), count, static_cast<int>(slice_ns / 1'000'000)));
    } else if (means_.bell != nullptr) {
      means_.bell->sleep(slice_ns);
    } else {
      give_up(kNudgeAtMostEachNs);
    }
    if (kernel_.recorder().on()) kernel_.recorder().record({.kind = TraceKind::wake});
    kernel_.time_passed();
  }
  wake_up();
  look_at_clock();
}

void Waiter::wake_up() {
  if (!about_to_sleep_) return;
  about_to_sleep_ = false;
  if (means_.bell != nullptr) means_.bell->end_sleep();
  if (means_.wake_descriptor < 0) return;
  std::uint64_t rings = 0;
  static_cast<void>(!read(means_.wake_descriptor, &rings, sizeof rings));  // nonblocking: only empties it
}

}  // namespace margay::sim
