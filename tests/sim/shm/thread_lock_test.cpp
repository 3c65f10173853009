#include "sim/shm/thread_lock.hpp"

#include <unistd.h>

#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "sim/shm/oneshot_wakeup.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim {

TEST_CASE("one thread at a time is inside") {
  ThreadLock lock;
  std::uint64_t count = 0;  // torn by a lock that admits two threads; the thread sanitizer detects that too
  constexpr int kThreads = 4;
  // The thread sanitizer detects two threads inside in any case, and makes the handover of a lock slow.
  constexpr int kTimes = margay::testing::kThreadSanitizer ? 4000 : 20000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int time = 0; time < kTimes; ++time) {
        lock.lock();
        ++count;
        lock.unlock();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(count == std::uint64_t{kThreads} * kTimes);
}

TEST_CASE("a waiting thread enters before a holder that lets it in enters again") {
  ThreadLock lock;
  std::uint64_t entries = 0;
  lock.lock();
  std::thread other([&] {
    lock.lock();
    ++entries;
    lock.unlock();
  });
  while (!lock.wanted()) std::this_thread::yield();
  // Several turns, because let_in() waits for a bounded time and the other thread may have lost its processor.
  std::uint64_t seen = 0;
  while (seen == 0) {
    const std::uint32_t before = lock.turns();
    lock.unlock();
    lock.let_in();
    lock.lock();
    seen = entries;
    CHECK((seen == 0 || lock.turns() >= before + 2));
  }
  lock.unlock();
  other.join();
  CHECK(entries == 1);
}

TEST_CASE("a thread knows whether it holds the lock") {
  ThreadLock lock;
  CHECK_FALSE(lock.mine());
  REQUIRE(lock.try_lock());
  CHECK(lock.mine());
  CHECK_FALSE(lock.try_lock());
  std::thread other([&] {
    CHECK_FALSE(lock.mine());
    CHECK_FALSE(lock.try_lock());
  });
  other.join();
  lock.unlock();
  CHECK_FALSE(lock.mine());
}

TEST_CASE("a wakeup takes effect before or during a wait, once, and publishes the data written before it") {
  for (int round = 0; round < 200; ++round) {
    OneShotWakeup oneshot_wakeup;
    int done = 0;
    std::thread other([&] {
      if (round % 3 == 0) usleep(200);
      done = round + 1;
      oneshot_wakeup.call();
    });
    if (round % 3 == 1) other.join();
    oneshot_wakeup.wait();
    CHECK(done == round + 1);
    if (other.joinable()) other.join();
  }
}

}  // namespace margay::sim
