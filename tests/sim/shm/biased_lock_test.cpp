#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "sim/shm/biased_lock.hpp"
#include "tests/sim/shm_pin.hpp"

namespace margay::sim {
namespace {

constexpr std::uint64_t kEntries = kBuiltWithThreadSanitizer ? 50'000 : 300'000;

// Accessed only under the lock; plain on purpose, so that the thread sanitizer and torn pairs reveal a broken lock.
struct Guarded {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
};

void contend(bool allow_membarrier) {
  BiasedLock lock(allow_membarrier);
  Guarded guarded;
  std::atomic<bool> ends{false};
  std::atomic<bool> was_inside{false};
  std::uint64_t others = 0;
  std::uint64_t torn = 0;
  std::thread other([&] {
    const Pinned pinned_there(1);
    while (!ends.load(std::memory_order_relaxed)) {
      if (!lock.try_enter_other()) continue;
      if (guarded.first != guarded.second) ++torn;
      ++guarded.first;
      for (std::uint64_t i = 0; i < others % 8; ++i) spin_pause();
      ++guarded.second;
      ++others;
      lock.leave_other();
      was_inside.store(true, std::memory_order_relaxed);
      // Stays away for a while, as the coprocessor does; if it always stayed at the door, each entry would cost the
      // owner a sleep.
      take_steps(others % 193);
    }
  });
  const Pinned pinned(0);
  // It may get a processor late.
  while (!was_inside.load(std::memory_order_relaxed)) std::this_thread::yield();
  std::uint64_t torn_here = 0;
  for (std::uint64_t i = 0; i < kEntries; ++i) {
    lock.owner_enter();
    if (guarded.first != guarded.second) ++torn_here;
    ++guarded.first;
    ++guarded.second;
    lock.owner_leave();
    // Mostly outside, for varying times, so that both often reach the door at once.
    take_steps(i % 97);
  }
  ends.store(true, std::memory_order_relaxed);
  other.join();
  CHECK_GT(others, 0);
  CHECK_EQ(torn, 0);
  CHECK_EQ(torn_here, 0);
  CHECK_EQ(guarded.first, kEntries + others);
  CHECK_EQ(guarded.second, kEntries + others);
  CHECK_EQ(lock.owner_entries(), kEntries);
}

TEST_CASE("biased lock: one thread at a time is inside, with membarrier") {
  contend(true);
}
TEST_CASE("biased lock: one thread at a time is inside, with fences") {
  contend(false);
}

TEST_CASE("biased lock: it returns who is inside") {
  BiasedLock lock;
  CHECK_FALSE(lock.owner_inside());
  lock.owner_enter();
  CHECK(lock.owner_inside());
  CHECK_EQ(lock.owner_entries(), 1);
  CHECK_FALSE(lock.try_enter_other());
  lock.owner_leave();
  CHECK_FALSE(lock.owner_inside());
  CHECK_EQ(lock.owner_entries(), 1);
  CHECK(lock.try_enter_other());
  CHECK_FALSE(lock.try_enter_other());
  lock.leave_other();
}

TEST_CASE("biased lock: the other waits for an owner that leaves, or gives up and leaves the lock free") {
  BiasedLock lock;
  lock.owner_enter();
  int looks = 0;
  CHECK_FALSE(lock.enter_other([&] { return ++looks == 3; }));
  CHECK_EQ(looks, 3);
  CHECK(lock.enter_other([&] {
    lock.owner_leave();
    return false;
  }));
  lock.leave_other();
  lock.owner_enter();
  CHECK(lock.owner_inside());
}

// The owner is outside for a moment only, so that a single poll nearly always finds it inside.
TEST_CASE("biased lock: endless short stays of the owner do not lock the other out") {
  BiasedLock lock;
  std::atomic<bool> ends{false};
  std::thread owner([&] {
    while (!ends.load(std::memory_order_relaxed)) {
      lock.owner_enter();
      take_steps(1000);
      lock.owner_leave();
    }
  });
  std::uint64_t most = 0;
  for (int i = 0; i < 300; ++i) {
    while (lock.owner_entries() == 0) std::this_thread::yield();
    std::uint64_t first = 0;
    REQUIRE(lock.enter_other([&] {
      const std::uint64_t entries = lock.owner_entries();
      if (first == 0) first = entries;
      if (entries > first) most = std::max(most, entries - first);  // one from which it withdraws is not counted again
      return false;
    }));
    lock.leave_other();
  }
  ends.store(true, std::memory_order_relaxed);
  owner.join();
  // The current stay, and the one in which the owner detects the other and withdraws.
  CHECK_LE(most, 1);
}

TEST_CASE("biased lock: an owner that waits gets in when the other leaves, however long it stayed") {
  BiasedLock lock;
  REQUIRE(lock.try_enter_other());
  std::atomic<bool> inside{false};
  std::thread owner([&] {
    lock.owner_enter();
    inside.store(true);
    lock.owner_leave();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // long enough that the owner sleeps
  CHECK_FALSE(inside.load());
  lock.leave_other();
  owner.join();
  CHECK(inside.load());
}

}  // namespace
}  // namespace margay::sim
