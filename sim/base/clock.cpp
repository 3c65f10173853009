#include "sim/base/clock.hpp"

#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace margay::sim {

namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

// Reads the processor's own report (CPUID).
bool ask_tsc_is_invariant() {
#if defined(__x86_64__)
  // CPUID 8000'0007h, EDX bit 8: "invariant TSC" (the same on AMD and Intel).
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  return __get_cpuid(0x8000'0007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1U << 8)) != 0;
#else
  return false;
#endif
}

}  // namespace

bool tsc_is_invariant() {
  // Asked once, because CPUID traps in virtual machines, which takes tens of microseconds.
  static const bool answer = ask_tsc_is_invariant();
  return answer;
}

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t RealClock::now_ns() const {
  return monotonic_ns();
}

const Clock& real_clock() {
  static const RealClock clock;
  return clock;
}

ClockAnchor take_anchor(const Clock& clock) {
  constexpr int kTries = 3;
  ClockAnchor best;
  std::uint64_t best_width = ~std::uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const std::uint64_t before = clock.ticks();
    const std::uint64_t time_ns = clock.now_ns();
    // The narrowest try is kept, because an interrupt between the readings makes a try wide.
    const std::uint64_t width = clock.ticks() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {before + width / 2, time_ns};
  }
  return best;
}

}  // namespace margay::sim
