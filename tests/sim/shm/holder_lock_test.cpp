// Tests of the lock that names its holder, and of the accumulate lock, which uses it.
#include "sim/shm/holder_lock.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <mutex>
#include <thread>
#include <vector>

#include "sim/shm/accumulate_lock.hpp"
#include "tests/sim/window_lock_table.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim::test {
namespace {

TEST_CASE("holder lock: one process at a time is inside, and the lock names it") {
  Deaths deaths{};
  AccumulateLockData data;
  const auto times = testing::of_threads(50'000);
  struct Parts {
    std::uint64_t first = 0;
    std::uint64_t second = 0;
  } parts;  // plain: torn by a lock that lets two in; thread sanitizer sees it too
  std::atomic<std::uint32_t> wrong = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t me = 0; me < 4; ++me) {
    threads.emplace_back([&, me] {
      AccumulateLock lock(data, me, deaths.is_dead());
      for (std::uint64_t time = 0; time < times; ++time) {
        const std::lock_guard guard(lock);
        if (parts.first != parts.second || std::atomic_ref<std::uint32_t>(data.holder).load() != me + 1) ++wrong;
        ++parts.first;
        if (time % 64 == 0) ::sched_yield();
        ++parts.second;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(wrong.load(), 0);
  CHECK_EQ(parts.first, 4 * times);
  CHECK_EQ(parts.second, 4 * times);
  CHECK_EQ(data.holder, 0);
}

TEST_CASE("holder lock: of all threads that detect a lost holder one takes the lock over, and gets that result") {
  constexpr std::uint32_t kThreads = 3;
  for (std::uint64_t round = 0; round < testing::of_threads(500); ++round) {
    std::atomic<std::uint32_t> heard = 0;
    // No thread takes the lock before all have asked whether its holder is dead.
    const HolderDeathTest is_dead(
        [](void* context, std::uint32_t id) {
          auto& all = *static_cast<std::atomic<std::uint32_t>*>(context);
          for (++all; all.load() < kThreads;) std::this_thread::yield();
          return id == 9;
        },
        &heard);
    std::uint32_t word = 9 + 1;
    std::uint32_t inside = 0;
    std::atomic<std::uint32_t> taken_over = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t me = 0; me < kThreads; ++me) {
      threads.emplace_back([&, me] {
        HolderLock lock(word, me, is_dead);
        if (lock.enter() == HolderLock::Entry::taken_over) ++taken_over;
        ++inside;
        lock.leave();
      });
    }
    for (std::thread& thread : threads) thread.join();
    REQUIRE_EQ(taken_over.load(), 1);
    REQUIRE_EQ(inside, kThreads);
    REQUIRE_EQ(word, 0);
  }
}

TEST_CASE("holder lock: the lock is not taken from a live holder, however long it stays") {
  struct Questions {
    std::atomic<std::uint32_t> asked = 0;
    std::atomic<std::uint32_t> wrong = 0;
  } questions;
  const HolderDeathTest is_dead(
      [](void* context, std::uint32_t id) {
        auto& asks = *static_cast<Questions*>(context);
        if (id != 5) ++asks.wrong;
        ++asks.asked;
        return false;
      },
      &questions);
  std::uint32_t word = 0;
  HolderLock holder(word, 5, is_dead);
  CHECK(holder.enter() == HolderLock::Entry::free);
  std::atomic<bool> in{false};
  std::thread other([&] {
    HolderLock lock(word, 6, is_dead);
    CHECK(lock.enter() == HolderLock::Entry::free);
    in.store(true);
    lock.leave();
  });
  while (questions.asked.load() < 20 && !in.load()) std::this_thread::yield();
  CHECK_FALSE(in.load());
  holder.leave();
  other.join();
  CHECK(in.load());
  CHECK_EQ(questions.wrong.load(), 0);
}

// The reports to a process while it waits for a stopped holder.
struct Wait {
  std::atomic<std::uint64_t> waited_ns = 0;
  std::atomic<std::uint32_t> wrong = 0;
  std::atomic<std::uint32_t> ends = 0;
  [[nodiscard]] HolderDeathTest is_dead() {
    return {[](void*, std::uint32_t) { return false; }, this,
            [](void* context, std::uint32_t id, std::uint64_t ns) {
              auto& wait = *static_cast<Wait*>(context);
              if (id != 5 || (ns != 0 && ns < wait.waited_ns.load())) ++wait.wrong;
              if (ns == 0) ++wait.ends;
              wait.waited_ns.store(ns);
            }};
  }
};

TEST_CASE("holder lock: a process that waits for a stopped holder sleeps, gets its id, and enters once it continues") {
  Mapped<std::uint32_t> word;
  const pid_t holder = ::fork();
  REQUIRE(holder >= 0);
  if (holder == 0) {
    HolderLock lock(*word, 5, HolderDeathTest([](void*, std::uint32_t) { return false; }, nullptr));
    static_cast<void>(lock.enter());
    ::raise(SIGSTOP);
    lock.leave();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(holder, &status, WUNTRACED) == holder);
  REQUIRE(WIFSTOPPED(status));
  Wait wait;
  rusage used{};
  std::thread other([&] {
    HolderLock lock(*word, 6, wait.is_dead());
    CHECK(lock.enter() == HolderLock::Entry::free);
    ::getrusage(RUSAGE_THREAD, &used);
    lock.leave();
  });
  constexpr std::uint64_t kWaitNs = 200'000'000;
  while (wait.waited_ns.load() < kWaitNs) std::this_thread::yield();
  CHECK(wait.ends.load() == 0);
  ::kill(holder, SIGCONT);
  other.join();
  REQUIRE(::waitpid(holder, &status, 0) == holder);
  CHECK(status == 0);
  CHECK(wait.wrong.load() == 0);
  CHECK(wait.ends.load() == 1);
  CHECK(*word == 0);
  // Naps grow to a millisecond, and each is a voluntary context switch.
  CHECK(used.ru_nvcsw >= 20);
}

}  // namespace
}  // namespace margay::sim::test
