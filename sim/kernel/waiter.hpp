// How one wait passes its time: it spins or yields its processor, nudges the rank that it waits for, and at last
// sleeps.
//
//   Waiter waiter(...);
//   while (!done()) progress() ? waiter.moved() : waiter.idle();
//
// The decision (wait_step): with more ranks than processors a rank yields. With fewer it spins, also beside other
// programs, unless another rank of the job needs its processor (sim/kernel/company). Then it yields in each round, or
// sleeps if other programs need the processor, too: a rank that yields goes to the end of the scheduler's row, behind
// all of them, one that is woken does not. After kSleepAfterNs without work it sleeps, so that an idle job costs
// nothing.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/assert.hpp"
#include "sim/base/clock.hpp"
#include "sim/kernel/company.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/shm/bell.hpp"

namespace margay::sim {

// automatic: by the company on the processor.
enum class WaitPolicy : std::uint8_t { spin, yield, automatic };

// What a round without progress does.
enum class WaitStep : std::uint8_t { spin, yield, sleep };
// `idle_ns`: how long nothing has moved while this rank had its processor. `nudged`:
// this round has woken a rank that owes something.
[[nodiscard]] WaitStep wait_step(WaitPolicy policy, Company::Found company, bool nudged, std::uint64_t idle_ns);

// How the waiting thread yields or sleeps, where more is to be done than that: it lets go of a lock meanwhile that
// other threads want, or passes the turn on in a virtual machine.
class Rest {
 public:
  Rest() = default;
  Rest(const Rest&) = delete;
  Rest& operator=(const Rest&) = delete;
  virtual ~Rest() = default;
  // For `ns` nanoseconds; 0: others that wait for this processor go first.
  virtual void rest(std::uint64_t ns) = 0;
};
// What a wait does without a Rest.
void give_processor_up(std::uint64_t ns);

// What a process waits with; made once.
struct WaitMeans {
  WaitPolicy policy = WaitPolicy::spin;
  std::string reason;         // for `margay info`
  BellOwner* bell = nullptr;  // rung by ranks of the node; nullptr when alone on it
  int wake_descriptor =
      -1;                 // becomes readable when the bell was rung while poll() sleeps; -1 without descriptors to poll
  bool may_sleep = true;  // false when several threads wait at once: they only yield
  Rest* rest = nullptr;   // nullptr: give_processor_up()
  Company* company = nullptr;  // nullptr: not known; the policy is not automatic then
};

// Looks that found nothing, one after the other with nothing between: together they are a wait, and give the processor
// up as a wait does. A rank that works between its looks keeps it. Never sleeps for long: only the program knows what
// else it looks at.
class LookStreak {
 public:
  // A look begins that may find nothing.
  void begin(const Clock& clock) {
    if (left_ns_ != 0) [[unlikely]]
      measure(clock);
  }
  // It found nothing.
  void found_nothing(Kernel& kernel, const Clock& clock, const WaitMeans& means) {
    if (++looks_ % kLooks == 0 || means.company == nullptr) give_way(kernel, clock, means);
  }

  // One in so many looks measures the time until the next one, and may give way.
  static constexpr std::uint32_t kLooks = 8;
  // So many are a wait.
  static constexpr std::uint32_t kLooksOfWait = 4 * kLooks;
  // The program worked, if so much time passed between two looks: leaving a call and entering the next one takes a
  // third of that.
  static constexpr std::uint64_t kWorkNs = 150;

 private:
  void measure(const Clock& clock);
  void give_way(Kernel& kernel, const Clock& clock, const WaitMeans& means);

  std::uint32_t looks_ = 0;    // since the program last worked
  std::uint64_t left_ns_ = 0;  // when the last look ended, if it measures; 0: it does not
};

// On the stack of the waiting call. Starts counting at construction. Every call under the process lock, which only a
// Rest gives back: what a wait tells the kernel (idle_round, nudge) is the lock's, too.
class Waiter {
 public:
  Waiter(Kernel& kernel, const Clock& clock, const WaitMeans& means) : kernel_(kernel), clock_(clock), means_(means) {
    MARGAY_DEBUG_ASSERT(means.policy != WaitPolicy::automatic || means.company != nullptr);
  }
  ~Waiter() { wake_up(); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  // Something moved: the wait begins anew.
  void moved() {
    if (rounds_ == 0) [[likely]]
      return;
    rounds_ = 0;
    since_ns_ = idle_ns_ = 0;
    stalled_since_ns_ = stalled_ns_ = 0;
    wake_up();
  }
  // A round found nothing. Gives time away as the policy says; returns after at most kSleepSliceNs.
  void idle() {
    if (kernel_.take_body_moved()) [[unlikely]]
      return body_moved();
    ++rounds_;
    kernel_.idle_round();
    // A spinning round pays some tests and an increment; the clock (23 ns) is looked at once in kSpinRounds.
    if (rounds_ % kSpinRounds != 0 && !about_to_sleep_ && !gives_way()) [[likely]]
      return;
    pause();
  }
  // Between two rounds the caller gave its processor up for other threads of its rank.
  void gave_way();
  // Nanoseconds in which no message moved, nor a part of one; 0 in a young wait (the clock is not read then).
  [[nodiscard]] std::uint64_t idle_ns() const { return stalled_ns_; }
  // It sleeps between its rounds, or has lasted so long that it may as well have: whoever counts rounds for patience is
  // to lose it now.
  [[nodiscard]] bool sleeps() const { return about_to_sleep_ || stalled_ns_ >= kSleepAfterNs; }

  // A sleep is at most this long, so that a stalled wait can report itself.
  static constexpr std::uint64_t kSleepSliceNs = 500'000'000;

 private:
  static constexpr std::uint32_t kSpinRounds = 256;

  void body_moved();
  void pause();
  void give_up(std::uint64_t ns) { means_.rest != nullptr ? means_.rest->rest(ns) : give_processor_up(ns); }
  [[nodiscard]] Company::Found company() const {
    return means_.policy == WaitPolicy::automatic ? means_.company->found() : Company::Found::nobody;
  }
  [[nodiscard]] bool gives_way() const {
    return means_.policy == WaitPolicy::yield || company() != Company::Found::nobody;
  }
  [[nodiscard]] std::uint64_t yield();
  void look_at_clock(std::uint64_t now);
  void count_idle_time(std::uint64_t now);
  bool nudge();
  [[nodiscard]] std::uint64_t sleep_slice_ns() const;
  void sleep();
  void wake_up();

  Kernel& kernel_;
  const Clock& clock_;
  const WaitMeans& means_;
  std::uint32_t rounds_ = 0;     // without progress
  bool about_to_sleep_ = false;  // begin_sleep() was called: one more look, then sleep
  std::uint64_t since_ns_ = 0;   // when the clock was last looked at in this wait; 0: not yet
  std::uint64_t idle_ns_ = 0;    // without turns of others
  // For who reports a stall: parts of bodies count, which do not change how long the next part will take.
  std::uint64_t stalled_since_ns_ = 0;  // 0: not yet
  std::uint64_t stalled_ns_ = 0;
  std::uint64_t read_on_ = 0;        // Kernel::bodies_read_on() as last seen
  std::uint64_t next_nudge_ns_ = 0;  // of idle time
};

}  // namespace margay::sim
