// How one wait passes its time: it spins, or yields (gives its processor to whoever waits for one), nudges the rank
// that it waits for, and at last sleeps.
//
//   Waiter waiter(...);
//   while (!done()) progress() ? waiter.moved() : waiter.idle();
//
// The decision: with no more ranks than processors a waiting rank spins; with more it yields at once.
// After kSleepAfterNs without work it sleeps, so that an idle job costs nothing. A rank that spins looks after
// kNudgeAfterNs whether somebody else wants its processor, another program or the very peer that it waits for, and
// then sleeps at once: to spin would keep the peer from running for a whole turn, of milliseconds, at every message.
#pragma once

#include <cstdint>
#include <string>

#include "sim/base/clock.hpp"
#include "sim/kernel/kernel.hpp"
#include "sim/shm/bell.hpp"

namespace margay::sim {

enum class WaitPolicy : std::uint8_t { spin, yield };

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
  // What the waits before found: until then others want this processor. Under the process lock.
  mutable std::uint64_t wanted_until_ns = 0;
};

// On the stack of the waiting call. Starts counting at construction. Every call under the process lock, which only a
// Rest gives back: what a wait tells the kernel (idle_round, nudge) is the lock's, too.
class Waiter {
 public:
  Waiter(Kernel& kernel, const Clock& clock, const WaitMeans& means) : kernel_(kernel), clock_(clock), means_(means) {}
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
    owed_ = wanted_ = false;
    wake_up();
  }
  // A round found nothing. Gives time away as the policy says; returns after at most kSleepSliceNs.
  void idle() {
    if (kernel_.take_body_moved()) [[unlikely]]
      return body_moved();
    ++rounds_;
    kernel_.idle_round();
    // A spinning round pays a test and an increment; the clock (23 ns) is looked at once in kSpinRounds.
    if (means_.policy == WaitPolicy::spin && !about_to_sleep_ && !owed_ && rounds_ % kSpinRounds != 0) [[likely]]
      return;
    pause();
  }
  // Nanoseconds in which no message moved, nor a part of one; 0 in a young wait (the clock is not read then).
  [[nodiscard]] std::uint64_t idle_ns() const { return stalled_ns_; }
  // It sleeps between its rounds, which are rare from here on, whether or not parts of a body move.
  [[nodiscard]] bool sleeps() const { return wanted_ || idle_ns_ >= kSleepAfterNs; }

  // A sleep is at most this long, so that a stalled wait can report itself.
  static constexpr std::uint64_t kSleepSliceNs = 500'000'000;

 private:
  static constexpr std::uint32_t kSpinRounds = 256;

  void body_moved();
  void pause();
  void give_up(std::uint64_t ns) { means_.rest != nullptr ? means_.rest->rest(ns) : give_processor_up(ns); }
  void look_at_clock();
  void look_for_company(std::uint64_t now);
  void sleep();
  void wake_up();

  Kernel& kernel_;
  const Clock& clock_;
  const WaitMeans& means_;
  std::uint32_t rounds_ = 0;     // without progress
  bool owed_ = false;            // for a while a peer has owed something: it gets this processor
  bool wanted_ = false;          // others want this processor
  bool about_to_sleep_ = false;  // begin_sleep() was called: one more look, then sleep
  std::uint64_t since_ns_ = 0;   // when the clock was first looked at in this wait; 0: not yet
  std::uint64_t idle_ns_ = 0;
  // For who reports a stall: parts of bodies count, which do not change how long the next part will take.
  std::uint64_t stalled_since_ns_ = 0;  // 0: not yet
  std::uint64_t stalled_ns_ = 0;
  std::uint64_t read_on_ = 0;        // Kernel::bodies_read_on() as last seen
  std::uint64_t next_nudge_ns_ = 0;  // of idle time
};

}  // namespace margay::sim
