// Clocks: the machine's own, and a virtual one for tests. All code that depends on time takes a Clock by reference.
#pragma once

#include <cstdint>

namespace margay::sim {

// The unit of ticks. Traces record it, so that a reader can convert recorded ticks into time.
enum class ClockKind : std::uint32_t {
  // Nanoseconds of CLOCK_MONOTONIC.
  monotonic = 1,
  // Ticks of the processor's invariant time stamp counter, one counter for all processors of a host.
  tsc = 2,
  // Nanoseconds of virtual time.
  virtual_ns = 3
};

// The interface of a clock. Its time and its ticks never decrease. Any thread may call its functions, unless a derived
// class states otherwise. A process has one clock for all its waits, deadlines and traces.
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
// Whether the processor reports (CPUID) that the counter ticks at a constant rate, independent of its frequency and
// sleep state. The first call may take tens of microseconds in a virtual machine; later ones read a variable.
[[nodiscard]] bool tsc_is_invariant();

// CLOCK_MONOTONIC through the vDSO (23 ns here). For measurements of the machine itself, and for code without another
// clock.
[[nodiscard]] std::uint64_t monotonic_ns();

// The machine's own clock. now_ns() is CLOCK_MONOTONIC through the vDSO (23 ns here): the operating system calibrates
// its counter, so nothing has to be measured at start, and all threads agree. ticks() is the raw counter where it is
// invariant (10 ns), otherwise now_ns(); a recorder of ticks takes a ClockAnchor now and then.
class RealClock final : public Clock {
 public:
  RealClock() : Clock(tsc_is_invariant() ? ClockKind::tsc : ClockKind::monotonic) {}
  [[nodiscard]] std::uint64_t now_ns() const override;
  [[nodiscard]] std::uint64_t ticks() const override { return kind() == ClockKind::tsc ? read_tsc() : now_ns(); }
};

// The clock of every process outside a virtual machine. It never changes, so all threads share it.
[[nodiscard]] const Clock& real_clock();

// A clock whose time changes only by set_ns() and advance_ns(). One thread at a time.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(std::uint64_t now_ns = 0) : Clock(ClockKind::virtual_ns), now_ns_(now_ns) {}
  [[nodiscard]] std::uint64_t now_ns() const override { return now_ns_; }
  [[nodiscard]] std::uint64_t ticks() const override { return now_ns_; }
  // Sets the time. No effect when `now_ns` is earlier than the present time.
  void set_ns(std::uint64_t now_ns) { now_ns_ = now_ns > now_ns_ ? now_ns : now_ns_; }
  // Moves the time forward. Requires: the sum fits 64 bits, 584 years.
  void advance_ns(std::uint64_t by_ns) { now_ns_ += by_ns; }

 private:
  // The virtual time, which now_ns() and ticks() return.
  std::uint64_t now_ns_;
};

// One moment, in ticks and in nanoseconds. Two anchors determine the rate of the ticks.
struct ClockAnchor {
  // In units of the clock's kind().
  std::uint64_t ticks = 0;
  // Nanoseconds of Clock::now_ns().
  std::uint64_t time_ns = 0;
  friend bool operator==(const ClockAnchor&, const ClockAnchor&) = default;
};
// Reads ticks and nanoseconds three times, and returns the pair that was read within the shortest time (some 20 ns
// unless the thread is interrupted).
[[nodiscard]] ClockAnchor take_anchor(const Clock& clock);

}  // namespace margay::sim
