// Replacements of the C library's functions that sleep, for ranks of the virtual machine: other ranks get their turns,
// and virtual time passes. They replace the C library's, because the dynamic linker searches the loading program first.
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "tests/mpi/virtual/machine.hpp"

using margay::testing::Seat;

namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

}  // namespace

extern "C" {

[[gnu::visibility("default")]] int nanosleep(const timespec* time, timespec* left) {
  if (Seat* const seat = Seat::mine(); seat != nullptr) {
    seat->yield(static_cast<std::uint64_t>(time->tv_sec) * kNsPerSecond + static_cast<std::uint64_t>(time->tv_nsec));
    return 0;
  }
  using Real = int (*)(const timespec*, timespec*);
  return reinterpret_cast<Real>(dlsym(RTLD_NEXT, "nanosleep"))(time, left);
}

[[gnu::visibility("default")]] int usleep(useconds_t us) {
  const timespec time{static_cast<time_t>(us / 1'000'000), static_cast<long>(us % 1'000'000) * 1'000};
  return nanosleep(&time, nullptr);
}

[[gnu::visibility("default")]] unsigned sleep(unsigned seconds) {
  const timespec time{static_cast<time_t>(seconds), 0};
  return static_cast<unsigned>(nanosleep(&time, nullptr));
}

}  // extern "C"
