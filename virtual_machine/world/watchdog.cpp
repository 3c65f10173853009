#include "virtual_machine/world/watchdog.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <string>

#include "sim/boot/findings.hpp"
#include "virtual_machine/program/output.hpp"

namespace margay::virtual_machine {

namespace {

// Less in a second is a wait: the watchdog itself uses some microseconds.
constexpr std::uint64_t kBusyNs = 1'000'000;

std::uint64_t process_time_ns() {
  timespec time{};
  ::syscall(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

// By the system call, because the C library's function sleeps in virtual time.
void sleep_for_a_second() {
  timespec time{1, 0};
  ::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, nullptr);
}

// The rank that waits holds no lock of stdio by which this line could be delayed: it goes out by a system call.
void report(std::uint32_t rank) {
  write_all_to_process(
      STDERR_FILENO, "margay simulate: rank " + std::to_string(rank) + " has waited for " +
                         std::to_string(Watchdog::kWaitSeconds) +
                         " s of real time outside of MPI (a lock, a socket, another process?), and all ranks with it; "
                         "a simulated rank can wait for other ranks by MPI only [" +
                         std::string(sim::finding_id(sim::Finding::stalled)) + "]\n");
}

[[noreturn]] void watch(const sim::Published<std::uint32_t>& running) {
  std::uint64_t before_ns = process_time_ns();
  for (int idle_seconds = 0;;) {
    sleep_for_a_second();
    const std::uint64_t now_ns = process_time_ns();
    idle_seconds = now_ns - before_ns < kBusyNs ? idle_seconds + 1 : 0;
    before_ns = now_ns;
    if (idle_seconds == Watchdog::kWaitSeconds) report(running.get());
  }
}

}  // namespace

Watchdog::Watchdog(const sim::Published<std::uint32_t>& running) {
  // Signals of the process are for the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([&running] { watch(running); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  thread_.detach();
}

}  // namespace margay::virtual_machine
