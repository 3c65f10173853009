#include "sim/kernel/waiter.hpp"

#include <poll.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "portals/base/assert.hpp"

namespace margay::sim {

namespace {

// The idle time before a yielding rank nudges: longer, because its peers are slow while they wait for a processor, not
// because they compute.
constexpr std::uint64_t kNudgeAfterYieldingNs = 40 * kNudgeAfterNs;
constexpr std::uint64_t kNudgeAtMostEachNs = 10'000'000;
// Of the time between two readings of the clock, at most this counts as idle; the remainder was a turn of other
// programs. Without this bound, a rank beside busy programs would sleep before its peer has had one turn.
constexpr std::uint64_t kOwnTimeMaxNs = 1'000'000;
// A sleep lasts 1/20 of the wait so far, and at least 1 ms, the shortest time of poll(). So a wait that must end
// without a ring (a mistake of the program, a lost peer) becomes about a twentieth longer. Code that counts polls gets
// 64 polls within half a second. The cost is 120 wake-ups in the first 10 seconds.
constexpr std::uint64_t kSleepShare = 20;
constexpr std::uint64_t kSleepMinNs = 1'000'000;
static_assert(kSleepMinNs <= kNudgeAtMostEachNs && kSleepMinNs <= Waiter::kSleepSliceNs);
// The length of a nap in a loop of polls, where a wait would sleep until it is woken.
constexpr std::uint64_t kNapNs = 20'000;

}  // namespace

WaitStep wait_step(WaitPolicy policy, Company::Found company, bool nudged, std::uint64_t idle_ns) {
  if (idle_ns >= kSleepAfterNs) return WaitStep::sleep;
  if (policy == WaitPolicy::yield) return WaitStep::yield;
  if (policy == WaitPolicy::automatic) {
    if (company == Company::Found::ranks_and_others) return WaitStep::sleep;
    if (company == Company::Found::ranks) return WaitStep::yield;
  }
  // The rank that was nudged may be computing while all other processors are busy, so its coprocessor needs this
  // processor.
  return nudged ? WaitStep::yield : WaitStep::spin;
}

void give_processor_up(std::uint64_t ns) {
  if (ns == 0) {
    sched_yield();
    return;
  }
  const timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  nanosleep(&time, nullptr);
}

// The next part may be here already, so the wait does not sleep now. But its idle time is kept. On a shared processor
// the sender puts a part into the ring only while it has the processor. A receiver that spun again after each part
// would keep the processor from the sender.
void Waiter::body_moved() {
  wake_up();
  stalled_since_ns_ = stalled_ns_ = 0;
}

void Waiter::pause() {
  if (about_to_sleep_) {
    if (means_.may_sleep) return sleep();
    // Another thread has joined since the decision to sleep.
    wake_up();
  }
  // The other rank may have left this processor, so each round that yields looks again.
  if (means_.policy == WaitPolicy::automatic) means_.company->update();
  const WaitStep step = wait_step(means_.policy, company(), false, idle_ns_);
  const bool naps = idle_ns_ >= kSleepAfterNs;  // if it may not sleep, look_at_clock() naps
  if (step == WaitStep::yield || (step == WaitStep::sleep && !means_.may_sleep && !naps)) return look_at_clock(yield());
  if (step == WaitStep::sleep || rounds_ % kSpinRounds == 0) look_at_clock(clock_.now_ns());
}

// The clock (23 ns) is read after each yield, because a yield takes 0.3 us, or the turns of all busy programs
// (milliseconds).
std::uint64_t Waiter::yield() {
  const bool automatic = means_.policy == WaitPolicy::automatic;
  const std::uint64_t before = automatic ? clock_.now_ns() : 0;
  if (since_ns_ == 0) count_idle_time(automatic ? before : clock_.now_ns());
  give_up(0);
  kernel_.time_passed();
  const std::uint64_t now = clock_.now_ns();
  if (automatic) means_.company->record_yield(before, now);
  return now;
}

void Waiter::count_idle_time(std::uint64_t now) {
  if (since_ns_ == 0) {
    next_nudge_ns_ = yields_each_round() ? kNudgeAfterYieldingNs : kNudgeAfterNs;
  } else {
    const std::uint64_t passed = now - since_ns_;
    idle_ns_ += means_.policy == WaitPolicy::yield ? passed : std::min(passed, kOwnTimeMaxNs);
  }
  since_ns_ = now;
  if (stalled_since_ns_ == 0) stalled_since_ns_ = now;
  stalled_ns_ = now - stalled_since_ns_;
}

// Wakes the ranks that owe something, if a nudge is due. The intervals between nudges double, up to kNudgeAtMostEachNs.
// Returns whether a rank was woken.
bool Waiter::nudge() {
  if (idle_ns_ < next_nudge_ns_) return false;
  next_nudge_ns_ = idle_ns_ + std::min(std::max(idle_ns_, next_nudge_ns_), kNudgeAtMostEachNs);
  return kernel_.nudge();
}

void Waiter::record_yield() {
  if (rounds_ != 0) look_at_clock(clock_.now_ns());
}

void Waiter::look_at_clock(std::uint64_t now) {
  count_idle_time(now);
  const bool nudged = nudge();
  switch (wait_step(means_.policy, company(), nudged, idle_ns_)) {
    case WaitStep::spin:
      return;
    case WaitStep::yield:
      if (nudged && !yields_each_round()) static_cast<void>(yield());
      return;
    case WaitStep::sleep:
      break;
  }
  // While another process reads a body out of this process's memory, this rank may sleep, but its wait is not stalled.
  const std::uint64_t before = std::exchange(read_on_, kernel_.bodies_read_on());
  if (before != read_on_) stalled_since_ns_ = now;
  if (!means_.may_sleep) {
    if (idle_ns_ >= kSleepAfterNs) give_up(kNudgeAfterNs);
    return;
  }
  if (means_.bell != nullptr) means_.bell->begin_sleep();
  kernel_.polling().make_due(false);
  // The caller polls once more before idle() sleeps, because a message that arrived before begin_sleep() rang no bell.
  about_to_sleep_ = true;
}

// While something is unfinished, the sleep is short, because the rank that owes it may need another nudge.
std::uint64_t Waiter::sleep_slice_ns() const {
  const std::uint64_t longest_ns = kernel_.unfinished() ? kNudgeAtMostEachNs : kSleepSliceNs;
  return std::clamp(stalled_ns_ / kSleepShare, kSleepMinNs, longest_ns);
}

void Waiter::sleep() {
  MARGAY_ASSERT(about_to_sleep_ && means_.may_sleep);
  const std::uint64_t slice_ns = sleep_slice_ns();
  std::array<pollfd, kWireCount + 1> descriptors{};
  nfds_t count = 0;
  bool something = false;
  for (Wire* wire : kernel_.wires()) {
    if (wire->wait_descriptor() < 0 || !kernel_.polling().is_awaited(*wire)) continue;
    MARGAY_ASSERT(count < kWireCount);
    // prepare_wait() returns true if something has arrived since the last poll. In that case this wait does not sleep.
    something |= wire->prepare_wait();
    descriptors[count++] = {wire->wait_descriptor(), POLLIN, 0};
  }
  if (!something) {
    if (kernel_.recorder().on()) kernel_.recorder().record({.kind = TraceKind::sleep, .detail = slice_ns});
    // A rank that sleeps only because of its company needs this processor as soon as it is woken, so its processor
    // stays published.
    if (means_.company != nullptr && idle_ns_ >= kSleepAfterNs) means_.company->withdraw();
    if (count > 0) {
      if (means_.wake_descriptor >= 0) descriptors[count++] = {means_.wake_descriptor, POLLIN, 0};
      static_cast<void>(poll(descriptors.data(), count, static_cast<int>(slice_ns / 1'000'000)));
    } else if (means_.bell != nullptr) {
      means_.bell->sleep(slice_ns);
    } else {
      give_up(kNudgeAtMostEachNs);
    }
    if (means_.company != nullptr) {
      means_.company->record_sleep(clock_.now_ns());
      means_.company->update();
    }
    if (kernel_.recorder().on()) kernel_.recorder().record({.kind = TraceKind::wake});
    kernel_.time_passed(true);
  }
  wake_up();
  look_at_clock(clock_.now_ns());
}

void Waiter::wake_up() {
  if (!about_to_sleep_) return;
  about_to_sleep_ = false;
  if (means_.bell != nullptr) means_.bell->end_sleep();
  if (means_.wake_descriptor < 0) return;
  std::uint64_t rings = 0;
  static_cast<void>(!read(means_.wake_descriptor, &rings, sizeof rings));  // nonblocking: empties the eventfd
}

void PollStreak::measure(const Clock& clock) {
  if (clock.now_ns() - left_ns_ > kWorkNs) polls_ = 0;
  left_ns_ = 0;
}

void PollStreak::yield_processor(Kernel& kernel, const Clock& clock, const WaitMeans& means) {
  const auto yield = [&](std::uint64_t ns) {
    means.yield_policy != nullptr ? means.yield_policy->yield(ns) : give_processor_up(ns);
    kernel.time_passed();
  };
  if (means.policy == WaitPolicy::spin) return;
  // Without company, only the policy `yield` gives way. In a virtual machine, time passes and messages arrive only when
  // a rank passes its turn.
  if (means.company == nullptr) return means.policy == WaitPolicy::yield ? yield(0) : void();
  Company& company = *means.company;
  company.update();
  left_ns_ = clock.now_ns();
  if (polls_ < kPollsOfWait) return;
  if (means.policy == WaitPolicy::yield) {
    yield(0);
    left_ns_ = clock.now_ns();
    return;
  }
  if (company.found() == Company::Found::none) return;
  const std::uint64_t before = left_ns_;
  const bool sleeps = company.found() == Company::Found::ranks_and_others;
  yield(sleeps ? kNapNs : 0);
  left_ns_ = clock.now_ns();
  sleeps ? company.record_sleep(left_ns_) : company.record_yield(before, left_ns_);
}

}  // namespace margay::sim
