#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "sim/shm/bell.hpp"
#include "tests/sim/shm_pin.hpp"
#include "tests/support/seeds.hpp"

namespace margay::sim {
namespace {

using Clock = std::chrono::steady_clock;

// Longer than a thread waits for a processor on the busiest machine.
constexpr std::chrono::seconds kLong{40};
constexpr std::uint64_t kLongNs = 40'000'000'000;

TEST_CASE("bell: a ring between begin_sleep and sleep prevents the sleep") {
  BellData data;
  BellOwner owner(data);
  BellRinger ringer(data, register_node_barrier());
  owner.begin_sleep();
  ringer.ring_if_sleeping();
  const auto begin = Clock::now();
  owner.sleep(kLongNs);
  owner.end_sleep();
  CHECK(Clock::now() - begin < kLong / 2);
}

TEST_CASE("bell: without a sleeper no thread rings; the first ringer rings for all") {
  BellData data;
  BellOwner owner(data);
  BellRinger ringer(data, register_node_barrier());
  ringer.ring_if_sleeping();
  CHECK_EQ(owner.rings(), 0);
  owner.begin_sleep();
  ringer.ring_if_sleeping();
  ringer.ring_if_sleeping();
  CHECK_EQ(owner.rings(), 1);
  owner.end_sleep();
  ringer.ring();
  CHECK_EQ(owner.rings(), 2);
}

TEST_CASE("bell: a timeout ends a sleep") {
  BellData data;
  BellOwner owner(data);
  owner.begin_sleep();
  const auto begin = Clock::now();
  owner.sleep(2'000'000);
  owner.end_sleep();
  CHECK(Clock::now() - begin < kLong / 2);
}

// The central test: a publisher of single words against a sleeper that sets its flag at about the same time. Each word
// is one attempt; the moment of publishing moves in small steps past the moment of the flag.
void race(bool registered) {
  BellData data;
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> published{0};
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> taken{0};
  constexpr std::uint32_t kRounds = margay::testing::of_threads(60'000);
  std::thread publisher([&] {
    const Pinned pinned_there(1);
    BellRinger ringer(data, registered);
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      while (taken.load(std::memory_order_acquire) != round - 1) spin_pause();
      take_steps(round % 257);
      published.store(round, std::memory_order_release);
      ringer.ring_if_sleeping();
    }
  });
  const Pinned pinned(0);
  BellOwner owner(data);
  std::uint32_t slept_through = 0;
  for (std::uint32_t seen = 0; seen != kRounds && slept_through < 2;) {
    owner.begin_sleep();
    if (published.load(std::memory_order_acquire) == seen) {
      const auto begin = Clock::now();
      owner.sleep(kLongNs);
      if (Clock::now() - begin > kLong / 2) ++slept_through;
    }
    owner.end_sleep();
    seen = published.load(std::memory_order_acquire);
    taken.store(seen, std::memory_order_release);
  }
  CHECK_EQ(slept_through, 0);
  taken.store(kRounds, std::memory_order_release);
  while (published.load(std::memory_order_acquire) != kRounds) {
    taken.store(published.load(std::memory_order_acquire), std::memory_order_release);
  }
  publisher.join();
}

TEST_CASE("bell: no message is missed in a sleep, with membarrier") {
  race(register_node_barrier());
}
TEST_CASE("bell: no message is missed in a sleep, with a ringer without membarrier") {
  race(false);
}

TEST_CASE("bell: an unconditional ring wakes a waiter that set no flag") {
  BellData data;
  BellOwner waiter(data);
  std::atomic<bool> woken{false};
  const std::uint32_t seen = waiter.rings();
  std::thread thread([&] {
    while (waiter.rings() == seen) waiter.wait_rung(seen, kForeverNs);
    woken.store(true);
  });
  BellRinger(data, false).ring_if_sleeping();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_FALSE(woken.load());
  BellRinger(data, false).ring();
  thread.join();
  CHECK(woken.load());
}

}  // namespace
}  // namespace margay::sim
