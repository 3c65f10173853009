// Clocks and sleeps of libc, in the virtual time of the calling rank.

#include <poll.h>
#include <sched.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

#include "virtual_machine/program/hooks.hpp"
#include "virtual_machine/program/rank_state.hpp"
#include "virtual_machine/program/real.hpp"

using margay::virtual_machine::hooks;
using margay::virtual_machine::RankState;
using margay::virtual_machine::Real;

namespace {

// The calendar time at virtual time 0, 2000-01-01 00:00 UTC: fixed, so that equal runs print equal dates.
constexpr std::uint64_t kEpochSeconds = 946'684'800;
constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kForEver = ~std::uint64_t{0};

constinit Real<int(const timespec*, timespec*)> real_nanosleep("nanosleep");
constinit Real<int(clockid_t, int, const timespec*, timespec*)> real_clock_nanosleep("clock_nanosleep");
constinit Real<int(useconds_t)> real_usleep("usleep");
constinit Real<unsigned(unsigned)> real_sleep("sleep");
constinit Real<int()> real_sched_yield("sched_yield");
constinit Real<int(timeval*, void*)> real_gettimeofday("gettimeofday");
constinit Real<int(clockid_t, timespec*)> real_clock_gettime("clock_gettime");
constinit Real<std::time_t(std::time_t*)> real_time("time");
constinit Real<std::clock_t()> real_clock("clock");
constinit Real<int(timespec*, int)> real_timespec_get("timespec_get");
constinit Real<int(pollfd*, nfds_t, int)> real_poll("poll");
constinit Real<int()> real_pause("pause");
constinit Real<int(int, fd_set*, fd_set*, fd_set*, timeval*)> real_select("select");

[[nodiscard]] bool is_calendar(clockid_t clock) {
  return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI ||
         clock == CLOCK_REALTIME_ALARM;
}

[[nodiscard]] std::uint64_t clock_ns(clockid_t clock) {
  return hooks().now_ns() + (is_calendar(clock) ? kEpochSeconds * kSecondNs : 0);
}

[[nodiscard]] bool is_valid(const timespec& time) {
  return time.tv_sec >= 0 && time.tv_nsec >= 0 && time.tv_nsec < static_cast<long>(kSecondNs);
}

// Saturates: a sleep of 2^63 seconds is a sleep for ever.
[[nodiscard]] std::uint64_t ns_of(const timespec& time) {
  constexpr std::uint64_t kMost = ~std::uint64_t{0} / kSecondNs - 1;
  const auto seconds = static_cast<std::uint64_t>(time.tv_sec);
  return (seconds < kMost ? seconds : kMost) * kSecondNs + static_cast<std::uint64_t>(time.tv_nsec);
}

void set(timespec& time, std::uint64_t ns) {
  time.tv_sec = static_cast<std::time_t>(ns / kSecondNs);
  time.tv_nsec = static_cast<long>(ns % kSecondNs);
}

// Sleeps. Returns the error number that clock_nanosleep returns.
[[nodiscard]] int sleep_for(clockid_t clock, bool is_absolute, const timespec& time) {
  if (!is_valid(time)) return EINVAL;
  const std::uint64_t begin = is_absolute ? clock_ns(clock) : 0;
  const std::uint64_t end = ns_of(time);
  hooks().sleep_ns(end > begin ? end - begin : 0);
  return 0;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// `remaining` stays unchanged, here and below, because no signal interrupts a simulated sleep.
int nanosleep(const timespec* duration, timespec* remaining) {
  if (RankState::calling() == nullptr) return real_nanosleep(duration, remaining);
  const int error = sleep_for(CLOCK_MONOTONIC, false, *duration);
  if (error != 0) errno = error;
  return error == 0 ? 0 : -1;
}

int clock_nanosleep(clockid_t clock, int flags, const timespec* time, timespec* remaining) {
  if (RankState::calling() == nullptr) return real_clock_nanosleep(clock, flags, time, remaining);
  return sleep_for(clock, (flags & TIMER_ABSTIME) != 0, *time);
}

int usleep(useconds_t microseconds) {
  if (RankState::calling() == nullptr) return real_usleep(microseconds);
  hooks().sleep_ns(std::uint64_t{microseconds} * 1000);
  return 0;
}

unsigned sleep(unsigned seconds) {
  if (RankState::calling() == nullptr) return real_sleep(seconds);
  hooks().sleep_ns(std::uint64_t{seconds} * kSecondNs);
  return 0;
}

int sched_yield() noexcept {
  if (RankState::calling() == nullptr) return real_sched_yield();
  hooks().sleep_ns(0);
  return 0;
}

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (RankState::calling() == nullptr) return real_clock_gettime(clock, time);
  set(*time, clock_ns(clock));
  return 0;
}

int timespec_get(timespec* time, int base) noexcept {
  if (RankState::calling() == nullptr || base != TIME_UTC) return real_timespec_get(time, base);
  set(*time, clock_ns(CLOCK_REALTIME));
  return base;
}

// `zone` is obsolete, and ignored.
int gettimeofday(timeval* time, void* zone) noexcept {
  if (RankState::calling() == nullptr) return real_gettimeofday(time, zone);
  const std::uint64_t ns = clock_ns(CLOCK_REALTIME);
  time->tv_sec = static_cast<std::time_t>(ns / kSecondNs);
  time->tv_usec = static_cast<suseconds_t>(ns % kSecondNs / 1000);
  return 0;
}

std::time_t time(std::time_t* result) noexcept {
  if (RankState::calling() == nullptr) return real_time(result);
  const auto seconds = static_cast<std::time_t>(clock_ns(CLOCK_REALTIME) / kSecondNs);
  if (result != nullptr) *result = seconds;
  return seconds;
}

// An upper bound of the rank's processor time: its virtual time, from which waits are not subtracted.
std::clock_t clock() noexcept {
  if (RankState::calling() == nullptr) return real_clock();
  return static_cast<std::clock_t>(hooks().now_ns() / (kSecondNs / CLOCKS_PER_SEC));
}

// With descriptors, poll and select wait for other processes, in real time; without, they are sleeps.
int poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  if (RankState::calling() == nullptr || count > 0) return real_poll(descriptors, count, timeout_ms);
  hooks().sleep_ns(timeout_ms < 0 ? kForEver : static_cast<std::uint64_t>(timeout_ms) * 1'000'000);
  return 0;
}

int select(int count, fd_set* readable, fd_set* writable, fd_set* exceptional, timeval* timeout) {
  const bool has_descriptors = count > 0 && (readable != nullptr || writable != nullptr || exceptional != nullptr);
  if (RankState::calling() == nullptr || has_descriptors) {
    return real_select(count, readable, writable, exceptional, timeout);
  }
  if (timeout == nullptr) {
    hooks().sleep_ns(kForEver);
    return 0;
  }
  const int error = sleep_for(CLOCK_MONOTONIC, false, {timeout->tv_sec, timeout->tv_usec * 1000});
  if (error != 0) errno = error;
  return error == 0 ? 0 : -1;
}

// No signal reaches a rank that waits.
int pause() {
  if (RankState::calling() == nullptr) return real_pause();
  hooks().sleep_ns(kForEver);
  errno = EINTR;
  return -1;
}

}  // extern "C"
#pragma GCC visibility pop
