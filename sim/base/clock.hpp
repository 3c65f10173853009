// The seam to time: everything whose course depends on time takes a Clock, the machine's own or a virtual one.
#pragma once

#include <cstdint>

namespace margay::sim {

// The unit of ticks, by which a reader of recorded ticks converts them into time. Part of the trace format.
enum class ClockKind : std::uint32_t {
  // Nanoseconds of CLOCK_MONOTONIC.
  monotonic = 1,
  // Ticks of the processor's invariant time stamp counter, one counter for all processors of a host.
  tsc = 2,
  // Nanoseconds of virtual time.
  virtual_ns = 3
};

// Neither function ever goes back. Any thread may call them, unless a derived class states otherwise. A process has one
// clock for all its waits, deadlines and traces.
class Clock {
 public:
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  // Nanoseconds since a fixed point in the past: CLOCK_MONOTONIC's for the real clock, so ranks of one host agree.
  [[nodiscard]] virtual std::uint64_t now_ns() const = 0;
  // The cheapest time stamp of this clock, in units of kind(). Only differences within one host are meaningful.
  [[nodiscard]] virtual std::uint64_t ticks() const = 0;
  // The unit of ticks(); constant for the life of the clock.
  [[nodiscard]] ClockKind kind() const { return kind_; }

 protected:
  explicit Clock(ClockKind kind) : kind_(kind) {}

 private:
  // Constant after construction.
  ClockKind kind_;
};

// The processor's time stamp counter (about 10 ns). Requires: tsc_is_invariant().
[[nodiscard]] inline std::uint64_t read_tsc() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  return 0;
#endif
}
// Whether the counter ticks at a constant rate, independent of the processor's frequency and sleep state. By the
// processor's own report; the first call may take tens of microseconds in a virtual machine, later ones read a
// variable.
[[nodiscard]] bool tsc_is_invariant();

// CLOCK_MONOTONIC through the vDSO (23 ns here). For measurements of the machine itself, and for code without another
// clock.
[[nodiscard]] std::uint64_t monotonic_ns();

// The machine's own clock. now_ns() is CLOCK_MONOTONIC through the vDSO (23 ns here): the operating system calibrates
// its counter, so nothing has to be measured at start and threads need no agreement. ticks() is the raw counter where
// it is invariant (10 ns), otherwise now_ns(); a recorder of ticks takes a ClockAnchor now and then.
class RealClock final : public Clock {
 public:
  RealClock() : Clock(tsc_is_invariant() ? ClockKind::tsc : ClockKind::monotonic) {}
  [[nodiscard]] std::uint64_t now_ns() const override;
  [[nodiscard]] std::uint64_t ticks() const override { return kind() == ClockKind::tsc ? read_tsc() : now_ns(); }
};

// The clock of a process that is given no other. It has no state.
[[nodiscard]] const Clock& real_clock();

// A clock that stands until it is moved. One thread at a time.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(std::uint64_t now_ns = 0) : Clock(ClockKind::virtual_ns), now_ns_(now_ns) {}
  [[nodiscard]] std::uint64_t now_ns() const override { return now_ns_; }
  [[nodiscard]] std::uint64_t ticks() const override { return now_ns_; }
  // No effect when `now_ns` is in the past.
  void set_ns(std::uint64_t now_ns) { now_ns_ = now_ns > now_ns_ ? now_ns : now_ns_; }
  // Moves the time forward. Requires: the sum fits 64 bits, 584 years.
  void advance_ns(std::uint64_t by_ns) { now_ns_ += by_ns; }

 private:
  // The virtual time, which both functions return.
  std::uint64_t now_ns_;
};

// One moment on both scales. Two anchors determine a counter's rate.
struct ClockAnchor {
  // In units of the clock's kind().
  std::uint64_t ticks = 0;
  // Nanoseconds of Clock::now_ns().
  std::uint64_t time_ns = 0;
  friend bool operator==(const ClockAnchor&, const ClockAnchor&) = default;
};
// Reads both scales as closely together as possible in three tries (within some 20 ns on a running processor).
[[nodiscard]] ClockAnchor take_anchor(const Clock& clock);

}  // namespace margay::sim
