// Tests of RankLock: which thread is inside, with one thread, a signal handler, a second thread that the first has not
// detected yet, and many threads.
#include "mpi_adi/rank/rank_lock.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "tests/mpi_adi/lone_rank.hpp"

namespace margay::mpi_adi {
namespace {

bool inside(MpiRank& rank) {
  return rank.process().lock().owner_inside();
}

}  // namespace

TEST_CASE("rank lock: one thread is inside from enter to leave, and code that interrupts it detects that") {
  test::LoneRank lone;
  RankLock& lock = lone.rank->lock();
  CHECK_FALSE(inside(*lone.rank));
  CHECK_FALSE(lock.interrupted());
  lock.enter();
  CHECK(inside(*lone.rank));
  CHECK(lock.interrupted());
  CHECK_FALSE(lock.try_enter());
  lock.leave();
  CHECK_FALSE(inside(*lone.rank));
  REQUIRE(lock.try_enter());
  CHECK(lock.interrupted());
  lock.leave();
}

TEST_CASE(
    "rank lock: while only one thread may call, another one cannot enter, nor counts as inside with the first one") {
  test::LoneRank lone;
  RankLock& lock = lone.rank->lock();
  lock.enter();
  std::thread([&] {
    CHECK_FALSE(lock.on_lone_thread());
    CHECK_FALSE(lock.interrupted());
    CHECK_FALSE(lock.try_enter());
  }).join();
  lock.leave();
  std::thread([&] { CHECK_FALSE(lock.try_enter()); }).join();
}

TEST_CASE("rank lock: after the lone thread allows threads, many enter one after another") {
  test::LoneRank lone;
  MpiRank& rank = *lone.rank;
  rank.lock().allow_threads();
  REQUIRE(rank.threaded());
  constexpr int kThreads = 4;
  constexpr int kTimes = 2'000;
  int plain = 0;  // protected by the lock only
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kTimes; ++k) {
        rank.enter();
        CHECK(rank.lock().mine());
        ++plain;
        rank.let_waiting_threads_in();
        rank.leave();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQ(plain, kThreads * kTimes);
  CHECK_FALSE(rank.lock().mine());
}

TEST_CASE("rank lock: if another thread allows threads, the lone one leaves as it entered, and then all use the lock") {
  test::LoneRank lone;
  MpiRank& rank = *lone.rank;
  rank.enter();
  std::atomic<bool> asked = false;
  int plain = 0;
  std::thread other([&] {
    rank.lock().allow_threads();
    asked = true;
    rank.enter();  // waits: the lone thread is inside, without the threads' lock
    ++plain;
    rank.leave();
  });
  while (!asked) std::this_thread::yield();
  CHECK(rank.threaded());
  CHECK(rank.lock().wanted());
  plain = 1;
  rank.leave();
  other.join();
  CHECK_EQ(plain, 2);
  rank.enter();
  CHECK(rank.lock().mine());
  rank.leave();
}

}  // namespace margay::mpi_adi
