// The waiting of a rank between progress rounds: it spins or yields its processor, nudges the ranks for which it waits,
// and at last sleeps.
//
//   Waiter waiter(...);
//   while (!done()) progress() ? waiter.restart() : waiter.idle();
//
// wait_step() makes the decision. With more ranks than processors a rank yields in each round. Otherwise it spins, also
// beside other programs, unless another rank of the job needs its processor (sim/kernel/company). If another rank needs
// it, the rank yields in each round. If other programs need it too, the rank sleeps, because a rank that yields queues
// behind all these programs, and a rank that is woken does not. After kSleepAfterNs without work every rank sleeps, so
// that an idle job costs nothing.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/assert.hpp"
#include "sim/base/clock.hpp"
#include "sim/kernel/company.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/shm/bell.hpp"

namespace margay::sim {

// The waiting policy of a process (`--wait`). automatic: decides by the company on the processor.
enum class WaitPolicy : std::uint8_t { spin, yield, automatic };

// The action of a waiting rank after a round that found nothing.
enum class WaitStep : std::uint8_t { spin, yield, sleep };
// Decides the action. A pure function, for tests. `idle_ns`: time without progress while this rank had its processor.
// `nudged`: this round has woken a rank that owes something.
[[nodiscard]] WaitStep wait_step(WaitPolicy policy, Company::Found company, bool nudged, std::uint64_t idle_ns);

// A replacement for give_processor_up(), for waits that do more than yield: they release a lock that other threads
// need, or pass the turn in a virtual machine.
class YieldPolicy {
 public:
  YieldPolicy() = default;
  YieldPolicy(const YieldPolicy&) = delete;
  YieldPolicy& operator=(const YieldPolicy&) = delete;
  virtual ~YieldPolicy() = default;
  // Gives the processor up for `ns` nanoseconds. 0: until the threads that are ready to run on this processor have had
  // a turn.
  virtual void yield(std::uint64_t ns) = 0;
  // The same in a wait whose last round found nothing, and which only a message or a part of one can end. A virtual
  // machine with its own order of events returns at the next one for this rank.
  virtual void wait(std::uint64_t ns) { yield(ns); }
};
// The default: sched_yield() if `ns` is 0, otherwise nanosleep().
void give_processor_up(std::uint64_t ns);

// The policy and the objects by which a process waits; shared by all its waits. Pointers are not owned.
struct WaitMeans {
  WaitPolicy policy = WaitPolicy::spin;
  // Why this policy was chosen, for `margay info`.
  std::string reason;
  // The bell that other ranks of the node ring; nullptr: the node has no other rank.
  BellOwner* bell = nullptr;
  // A file descriptor that becomes readable when the bell rings, for a wait that sleeps in poll(); -1: no wire has a
  // descriptor, so no wait sleeps in poll().
  int wake_descriptor = -1;
  // Whether a wait may sleep until it is woken. false when several threads wait at once; they yield or nap instead.
  bool may_sleep = true;
  // nullptr: waits yield by give_processor_up().
  YieldPolicy* yield_policy = nullptr;
  // nullptr: the processors of other ranks are not visible, and the policy is not `automatic`.
  Company* company = nullptr;
};

// A streak of polls by the program (MPI_Test and similar calls) that find nothing, without work between them. Such
// polls together are a wait, and yield the processor as a wait does. A rank that works between its polls keeps its
// processor. Where a wait sleeps, a streak naps for a fixed time, because the program may also poll other things than
// messages.
class PollStreak {
 public:
  // A poll begins.
  void begin(const Clock& clock) {
    if (left_ns_ != 0) [[unlikely]]
      measure(clock);
  }
  // The poll found nothing.
  void found_nothing(Kernel& kernel, const Clock& clock, const WaitMeans& means) {
    if (++polls_ % kPollsPerMeasure == 0 || means.company == nullptr) yield_processor(kernel, clock, means);
  }

  // One empty poll in this many measures the time until the next poll, and may yield; without `company`, each
  // empty poll may yield.
  static constexpr std::uint32_t kPollsPerMeasure = 8;
  // The number of empty polls from which a streak counts as a wait.
  static constexpr std::uint32_t kPollsOfWait = 4 * kPollsPerMeasure;
  // If more time than this passes between two polls, the program has worked. To leave a call and enter the next one
  // takes a third of this time.
  static constexpr std::uint64_t kWorkNs = 150;

 private:
  // Ends the streak if the program has worked since its last poll.
  void measure(const Clock& clock);
  // Yields or naps if the streak counts as a wait.
  void yield_processor(Kernel& kernel, const Clock& clock, const WaitMeans& means);

  // Empty polls since the program last worked, as far as that was measured.
  std::uint32_t polls_ = 0;
  // The end of the last poll, if the time until the next poll is to be measured; otherwise 0.
  std::uint64_t left_ns_ = 0;
};

// One wait, on the stack of the waiting call. Every call is made under the process lock, because Kernel::idle_round()
// and Kernel::nudge() need it. Only a YieldPolicy may release the lock during a call.
class Waiter {
 public:
  Waiter(Kernel& kernel, const Clock& clock, const WaitMeans& means) : kernel_(kernel), clock_(clock), means_(means) {
    MARGAY_DEBUG_ASSERT(means.policy != WaitPolicy::automatic || means.company != nullptr);
  }
  ~Waiter() { wake_up(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Reports a round that made progress: the idle time starts again from 0.
  void restart() {
    if (rounds_ == 0) [[likely]]
      return;
    rounds_ = 0;
    since_ns_ = idle_ns_ = 0;
    stalled_since_ns_ = stalled_ns_ = 0;
    wake_up();
  }
  // Reports a round that found nothing: spins, yields or sleeps as wait_step() decides. A sleep ends after
  // kSleepSliceNs at the latest.
  void idle() {
    if (kernel_.take_body_moved()) [[unlikely]]
      return body_moved();
    ++rounds_;
    kernel_.idle_round();
    // A spinning round costs some tests and an increment. To read the clock costs 23 ns, so a spinning wait reads it
    // once in kSpinRounds rounds.
    if (rounds_ % kSpinRounds != 0 && !about_to_sleep_ && !yields_each_round()) [[likely]]
      return;
    pause();
  }
  // Reports that the caller yielded between two rounds, for other threads of its rank.
  void record_yield();
  // Nanoseconds without a message or a part of one; 0 while the wait has not read the clock.
  [[nodiscard]] std::uint64_t idle_ns() const { return stalled_ns_; }
  // Whether this wait sleeps between its rounds, or has lasted long enough to do so. If so, a round may be long, and a
  // caller must not limit the wait by a number of rounds.
  [[nodiscard]] bool sleeps() const { return about_to_sleep_ || stalled_ns_ >= kSleepAfterNs; }

  // The longest sleep. It is bounded, because a stalled wait must report itself.
  static constexpr std::uint64_t kSleepSliceNs = 500'000'000;

 private:
  // Spinning rounds between two readings of the clock.
  static constexpr std::uint32_t kSpinRounds = 256;

  // The step of idle() after a part of a body has arrived: the wait does not sleep now, but keeps its idle time.
  void body_moved();
  // The rare part of idle(): yields, sleeps or reads the clock, as wait_step() decides.
  void pause();
  void give_up(std::uint64_t ns) {
    means_.yield_policy != nullptr ? means_.yield_policy->wait(ns) : give_processor_up(ns);
  }
  [[nodiscard]] Company::Found company() const {
    return means_.policy == WaitPolicy::automatic ? means_.company->found() : Company::Found::none;
  }
  // Whether each round yields.
  [[nodiscard]] bool yields_each_round() const {
    return means_.policy == WaitPolicy::yield || company() != Company::Found::none;
  }
  // Yields once, by the yield policy if there is one. Returns the time after the yield.
  [[nodiscard]] std::uint64_t yield();
  // Counts idle time until `now`, nudges if that is due, and decides the next step.
  void look_at_clock(std::uint64_t now);
  // Adds the time since the last reading of the clock to the idle time. Unless the policy is `yield`, adds at most 1
  // ms, because the remainder was a turn of other programs.
  void count_idle_time(std::uint64_t now);
  bool nudge();
  // The length of the next sleep: a twentieth of the wait so far, within bounds.
  [[nodiscard]] std::uint64_t sleep_slice_ns() const;
  // Sleeps on the wires' descriptors, on the bell, or by give_up(). Requires: about_to_sleep_, and the poll after it
  // was set found nothing.
  void sleep();
  // Resets about_to_sleep_, with BellOwner::end_sleep().
  void wake_up();

  // The arguments of the constructor; all outlive the wait.
  Kernel& kernel_;
  const Clock& clock_;
  const WaitMeans& means_;
  // Rounds without progress.
  std::uint32_t rounds_ = 0;
  // The wait sleeps after one more poll that finds nothing. BellOwner::begin_sleep() was called. The poll closes the
  // race with a message that arrived before begin_sleep(), and so rang no bell.
  bool about_to_sleep_ = false;
  // The last reading of the clock in this wait; 0: there is none.
  std::uint64_t since_ns_ = 0;
  // This rank's own idle time, without turns of other programs.
  std::uint64_t idle_ns_ = 0;
  // The beginning and the length of the time without a message or a part of one, for reports of stalls. A part of a
  // body resets these two. It does not reset idle_ns_, because spinning does not make the next part arrive sooner.
  std::uint64_t stalled_since_ns_ = 0;  // 0: no reading yet
  std::uint64_t stalled_ns_ = 0;
  // Kernel::bodies_read_on() at the last check.
  std::uint64_t read_on_ = 0;
  // Idle time at which the next nudge is due.
  std::uint64_t next_nudge_ns_ = 0;
};

}  // namespace margay::sim
