#include "sim/shm/ticket_lock.hpp"

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "tests/support/seeds.hpp"

namespace margay::sim {

TEST_CASE("one thread at a time is inside") {
  TicketLock lock;
  std::uint64_t count = 0;  // torn by a lock that lets two in; thread sanitizer sees it too
  constexpr int kThreads = 4;
  // The thread sanitizer needs no luck to see two inside, and takes long to hand a lock on.
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

TEST_CASE("who asks while another holds it is next, however soon the holder asks again") {
  TicketLock lock;
  std::array<std::uint64_t, 2> entries{};
  lock.lock();
  std::thread other([&] {
    lock.lock();
    entries[1] = entries[0] + 1;
    lock.unlock();
  });
  while (!lock.contended()) std::this_thread::yield();
  lock.unlock();
  lock.lock();  // behind the other, which has asked
  CHECK(entries[1] == 1);
  entries[0] = 7;
  lock.unlock();
  other.join();
}

}  // namespace margay::sim
