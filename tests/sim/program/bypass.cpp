// A test of application bypass of a get. Rank 1 sleeps in a loop, or computes, and makes no call until rank 0 has made
// its gets of 1 MiB from rank 1's memory, which rank 0 reports by a signal. With TIMED_TESTS=1, on an otherwise idle
// machine, each get takes less than 50 ms, except a few, because three threads on two processors take turns of several
// milliseconds. On two ranks or more, over any wire:
//
//   margay run -n 2 program_bypass
//
// Prints the time of each get. A fault is printed on standard error; the exit status is then 1.
#include <margay/portals.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <vector>

using namespace margay;
using namespace margay::portals;

namespace {

constexpr std::size_t kBytes = 1U << 20U;
constexpr std::uint64_t kAwayNs = 60'000'000'000;  // a get that waits for rank 1's return fails the test then
constexpr std::uint64_t kBoundNs = 50'000'000;
constexpr std::uint64_t kPauseNs = 100'000'000;  // between gets: the coprocessor has gone back to sleep
constexpr std::uint64_t kWaitLimitNs = 90'000'000'000;
constexpr std::uint64_t kNsPerMs = 1'000'000;
constexpr int kGets = 8;
constexpr int kLateMost = 2;

enum class Away { asleep, computing };

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "program_bypass: %s\n", what);
  std::exit(1);
}

void need(const Status& status) {
  if (!status.ok()) give_up(status.sentence().c_str());
}

// The machine's clock, not the library's, because rank 1 makes no call of margay while away.
std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

void sleep_ns(std::uint64_t ns) {
  const timespec time{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  nanosleep(&time, nullptr);
}

volatile std::sig_atomic_t called_back = 0;

void be_away(Away how) {
  constexpr std::uint64_t kNapNs = 20'000'000;
  for (const std::uint64_t began = now_ns(); called_back == 0;) {
    if (how == Away::asleep) sleep_ns(kNapNs);
    if (now_ns() - began > kAwayNs) give_up("the gets of rank 0 did not end while this rank was away");
  }
  called_back = 0;
}

void gets(Program& program, SingleBlock& replies, const std::vector<std::byte>& expected, std::vector<std::byte>& copy,
          const char* how) {
  int late = 0;
  for (int i = 0; i < kGets; ++i) {
    sleep_ns(kPauseNs);
    copy.assign(kBytes, std::byte{0});
    replies.reset_local_offset();
    const std::uint64_t before = replies.messages();
    const std::uint64_t began = now_ns();
    need(program.get({.destination = 1, .portal = 1, .return_portal = 2}, kBytes));
    need(program.wait_until([&] { return replies.messages() == before + 1; }, kWaitLimitNs));
    const std::uint64_t took = now_ns() - began;
    std::printf("a get of %zu bytes from a rank %s: %.2f ms\n", kBytes, how,
                static_cast<double>(took) / static_cast<double>(kNsPerMs));
    if (!std::equal(copy.begin() + sizeof(pid_t), copy.end(), expected.begin() + sizeof(pid_t)))
      give_up("the reply is not what lies in rank 1's memory");
    if (took > kBoundNs) ++late;
  }
  if (late > kLateMost && std::getenv("TIMED_TESTS") != nullptr) give_up("more than two of these took more than 50 ms");
}

}  // namespace

int main() {
  std::unique_ptr<Program> program;
  need(Program::start(program));
  if (program->size() < 2) give_up("start two ranks or more: margay run -n 2 program_bypass");
  std::vector<std::byte> memory(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) memory[i] = static_cast<std::byte>(i * 2654435761U >> 9U);
  const pid_t self = getpid();  // transferred with the rest of the memory
  std::signal(SIGUSR2, [](int) { called_back = 1; });
  if (program->rank() == 1) std::memcpy(memory.data(), &self, sizeof self);
  std::vector<std::byte> copy(kBytes);
  SingleBlock source(Buffer{memory.data(), memory.size()});
  SingleBlock replies(Buffer{copy.data(), copy.size()});
  need(program->table().attach(1, source, {.offset_by = OffsetBy::sender, .direction = Direction::read_only}));
  need(program->table().attach(2, replies, {}));
  for (const Away how : std::array{Away::asleep, Away::computing}) {
    need(program->barrier());
    if (program->rank() == 1) program->compute([how] { be_away(how); });
    if (program->rank() == 0) {
      gets(*program, replies, memory, copy, how == Away::asleep ? "asleep" : "that computes");
      pid_t other = 0;
      std::memcpy(&other, copy.data(), sizeof other);
      kill(other, SIGUSR2);
    }
  }
  need(program->finish());
  return 0;
}
