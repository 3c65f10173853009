// The policy of a waiting rank between progress rounds: it spins or yields its processor, nudges the rank for which it
// waits, and at last sleeps.
//
//   Waiter waiter(...);
//   while (!done()) progress() ? waiter.restart() : waiter.idle();
//
// The decision is wait_step(). With more ranks than processors a rank yields. Otherwise it spins, also beside other
// programs, unless another rank of the job needs its processor (sim/kernel/company). Then it yields in each round, or
// sleeps if other programs need the processor too: a rank that yields queues behind all of them, a rank that is woken
// does not. After kSleepAfterNs without work it sleeps, so that an idle job costs nothing.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/assert.hpp"
#include "sim/base/clock.hpp"
#include "sim/kernel/company.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/shm/bell.hpp"

namespace margay::sim {

// A job's waiting policy (`--wait`). automatic: by the company on the processor.
enum class WaitPolicy : std::uint8_t { spin, yield, automatic };

// The action of a waiting rank after a round that found nothing.
enum class WaitStep : std::uint8_t { spin, yield, sleep };
// The decision, as a pure function for tests. `idle_ns`: time without progress while this rank had its processor.
// `nudged`: this round has woken a rank that owes something.
[[nodiscard]] WaitStep wait_step(WaitPolicy policy, Company::Found company, bool nudged, std::uint64_t idle_ns);

// A replacement for give_processor_up(), for waits that must do more when they yield: release a lock that other threads
// need, or pass the turn in a virtual machine.
class YieldPolicy {
 public:
  YieldPolicy() = default;
  YieldPolicy(const YieldPolicy&) = delete;
  YieldPolicy& operator=(const YieldPolicy&) = delete;
  virtual ~YieldPolicy() = default;
  // Gives the processor up for `ns` nanoseconds; 0: until threads that are ready for this processor have had a turn.
  virtual void yield(std::uint64_t ns) = 0;
};
// The default: sched_yield() or nanosleep().
void give_processor_up(std::uint64_t ns);

// The means by which a process waits; made once, and shared by its waits. Pointers are not owned.
struct WaitMeans {
  WaitPolicy policy = WaitPolicy::spin;
  // Why this policy was chosen, for `margay info`.
  std::string reason;
  // Rung by ranks of the node; nullptr when alone on it.
  BellOwner* bell = nullptr;
  // A file descriptor that becomes readable when the bell rings while poll() sleeps; -1 if no wire has one to poll.
  int wake_descriptor = -1;
  // false when several threads wait at once; they yield or nap instead.
  bool may_sleep = true;
  // nullptr: give_processor_up().
  YieldPolicy* yield_policy = nullptr;
  // nullptr: not available, and the policy is not `automatic`.
  Company* company = nullptr;
};

// A streak of the program's own polls (MPI_Test and its kin) that found nothing, with no work between them. Together
// they are a wait, and yield the processor as a wait does. A rank that works between its polls keeps its processor. A
// streak naps, but never sleeps until it is woken, because the program may also poll other things than messages.
class PollStreak {
 public:
  // A poll begins.
  void begin(const Clock& clock) {
    if (left_ns_ != 0) [[unlikely]]
      measure(clock);
  }
  // The poll found nothing.
  void found_nothing(Kernel& kernel, const Clock& clock, const WaitMeans& means) {
    if (++polls_ % kPollsPerMeasure == 0 || means.company == nullptr) give_way(kernel, clock, means);
  }

  // One poll in so many measures the time until the next one, and may yield.
  static constexpr std::uint32_t kPollsPerMeasure = 8;
  // Empty polls that count as a wait.
  static constexpr std::uint32_t kPollsOfWait = 4 * kPollsPerMeasure;
  // If more time passes between two polls, the program has worked. Leaving a call and entering the next one takes a
  // third of this time.
  static constexpr std::uint64_t kWorkNs = 150;

 private:
  // Ends the streak if the program has worked since its last poll.
  void measure(const Clock& clock);
  // Yields or naps if the streak counts as a wait.
  void give_way(Kernel& kernel, const Clock& clock, const WaitMeans& means);

  // Empty polls since the program last worked.
  std::uint32_t polls_ = 0;
  // End of the last poll if its distance to the next one is measured; else 0.
  std::uint64_t left_ns_ = 0;
};

// One wait, on the stack of the waiting call. Every call is made under the process lock,
// which only a YieldPolicy releases: idle_round() and nudge() need the lock too.
class Waiter {
 public:
  Waiter(Kernel& kernel, const Clock& clock, const WaitMeans& means) : kernel_(kernel), clock_(clock), means_(means) {
    MARGAY_DEBUG_ASSERT(means.policy != WaitPolicy::automatic || means.company != nullptr);
  }
  ~Waiter() { wake_up(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // A round made progress: patience starts again.
  void restart() {
    if (rounds_ == 0) [[likely]]
      return;
    rounds_ = 0;
    since_ns_ = idle_ns_ = 0;
    stalled_since_ns_ = stalled_ns_ = 0;
    wake_up();
  }
  // A round found nothing: spins, yields or sleeps as wait_step() decides. Returns after at most kSleepSliceNs.
  void idle() {
    if (kernel_.take_body_moved()) [[unlikely]]
      return body_moved();
    ++rounds_;
    kernel_.idle_round();
    // A spinning round costs some tests and an increment; the clock (23 ns) is read once in kSpinRounds.
    if (rounds_ % kSpinRounds != 0 && !about_to_sleep_ && !gives_way()) [[likely]]
      return;
    pause();
  }
  // Reports that the caller yielded between two rounds, for other threads of its rank.
  void record_yield();
  // Nanoseconds without a message or a part of one; 0 in a young wait, which has not read the clock.
  [[nodiscard]] std::uint64_t idle_ns() const { return stalled_ns_; }
  // Whether it sleeps between its rounds, or has lasted long enough to do so. Its rounds are then so long that callers
  // must not measure their patience by the number of rounds.
  [[nodiscard]] bool sleeps() const { return about_to_sleep_ || stalled_ns_ >= kSleepAfterNs; }

  // The longest sleep: a stalled wait must be able to report itself.
  static constexpr std::uint64_t kSleepSliceNs = 500'000'000;

 private:
  // Spinning rounds between two readings of the clock.
  static constexpr std::uint32_t kSpinRounds = 256;

  // The steps of idle(); see wait_step() for the decisions between them. body_moved(): a part of a body arrived, so it
  // does not sleep now, but keeps its idle time.
  void body_moved();
  // The rare part of idle(): one step as wait_step() decides.
  void pause();
  void give_up(std::uint64_t ns) {
    means_.yield_policy != nullptr ? means_.yield_policy->yield(ns) : give_processor_up(ns);
  }
  [[nodiscard]] Company::Found company() const {
    return means_.policy == WaitPolicy::automatic ? means_.company->found() : Company::Found::none;
  }
  // Whether each round yields.
  [[nodiscard]] bool gives_way() const {
    return means_.policy == WaitPolicy::yield || company() != Company::Found::none;
  }
  // Yields once, as the means say; returns the time afterwards.
  [[nodiscard]] std::uint64_t yield();
  // Counts idle time, nudges if that is due, and decides the next step.
  void look_at_clock(std::uint64_t now);
  // Adds the time since the last reading, at most 1 ms of it where other programs may have had the processor.
  void count_idle_time(std::uint64_t now);
  bool nudge();
  // The length of the next sleep: a twentieth of the wait so far, within bounds.
  [[nodiscard]] std::uint64_t sleep_slice_ns() const;
  // Sleeps on the sockets, or on the bell, or naps. Requires: begin_sleep() was followed by a poll that found nothing.
  void sleep();
  // Undoes begin_sleep().
  void wake_up();

  // The arguments of the constructor; all outlive the wait.
  Kernel& kernel_;
  const Clock& clock_;
  const WaitMeans& means_;
  // Rounds without progress.
  std::uint32_t rounds_ = 0;
  // begin_sleep() was called: one more poll, then sleep. The poll closes the race with a ring before begin_sleep().
  bool about_to_sleep_ = false;
  // Last reading of the clock in this wait; 0: none yet.
  std::uint64_t since_ns_ = 0;
  // Own idle time, without turns of other programs.
  std::uint64_t idle_ns_ = 0;
  // For reports of stalls. A part of a body resets these two. It does not reset idle_ns_, because the next part will
  // not arrive the sooner if this rank spins.
  std::uint64_t stalled_since_ns_ = 0;  // 0: not yet
  std::uint64_t stalled_ns_ = 0;
  // Kernel::bodies_read_on() at the last check.
  std::uint64_t read_on_ = 0;
  // Idle time at which the next nudge is due.
  std::uint64_t next_nudge_ns_ = 0;
};

}  // namespace margay::sim
