// Tests of WaitRoom: one waiting thread polls for all, wakes those whose wait is over, and passes its role on.
#include "mpi_adi/rank/wait_room.hpp"

#include <thread>

#include <doctest/doctest.h>

namespace margay::mpi_adi {
namespace {

TEST_CASE("one thread polls; a waiting thread is woken when its wait is over, and no other one") {
  WaitRoom room;
  REQUIRE(room.begin_polling(0));
  CHECK_FALSE(room.begin_polling(1));
  bool first = false;
  int asked = 0;
  auto until_first = [&] { return first; };
  auto never = [&] { return ++asked < 0; };
  WaitingThread served(until_first);
  WaitingThread other(never);
  room.add(served);
  room.add(other);
  room.serve();
  first = true;
  room.serve();
  CHECK(served.stay());
  CHECK(asked == 2);
  CHECK_FALSE(room.empty());
  room.end_polling();
  CHECK_FALSE(other.stay());  // its wait is not over: it has to poll
  CHECK(room.empty());
  CHECK_FALSE(room.begin_polling(2));
  room.end_polling();
  CHECK(room.begin_polling(3));
}

TEST_CASE("the last polling thread passes its role on, to the thread that began to wait last") {
  WaitRoom room;
  REQUIRE(room.begin_polling(0));
  room.join_polling();
  auto never = [] { return false; };
  WaitingThread early(never);
  WaitingThread late(never);
  room.add(early);
  room.add(late);
  room.end_polling();
  std::thread waits([&] { CHECK_FALSE(late.stay()); });
  room.end_polling();
  waits.join();
  room.end_polling();
  CHECK_FALSE(early.stay());
}

TEST_CASE("while the polling thread runs a callback of the program, another one polls") {
  WaitRoom room;
  REQUIRE(room.begin_polling(0));
  auto never = [] { return false; };
  SUBCASE("a thread that waited before") {
    WaitingThread waiting(never);
    room.add(waiting);
    room.begin_callback();
    CHECK_FALSE(waiting.stay());  // its wait is not over: it has to poll
    CHECK(room.empty());
    CHECK_FALSE(room.begin_polling(1));  // the waiting thread polls
  }
  SUBCASE("or a thread that arrives meanwhile") {
    room.begin_callback();
    CHECK(room.begin_polling(1));
  }
  // Two threads poll now. When one of them ends, the other one continues.
  room.end_callback();
  WaitingThread late(never);
  room.add(late);
  room.end_polling();
  CHECK_FALSE(room.empty());
  room.end_polling();
  CHECK_FALSE(late.stay());
  room.end_polling();
  CHECK(room.begin_polling(2));
}

TEST_CASE("a thread that runs a callback outside of a wait does not change the polling thread") {
  WaitRoom room;
  room.begin_callback();
  CHECK(room.begin_polling(0));
  room.end_callback();
  CHECK_FALSE(room.begin_polling(1));
  room.end_polling();
  CHECK(room.begin_polling(2));
}

TEST_CASE("a thread is in company until it has waited alone for long") {
  WaitRoom room;
  CHECK_FALSE(room.in_company(0));
  CHECK(room.in_company(1));
  std::uint32_t turns = 7;
  for (int waits = 0; waits < 2; ++waits) {
    REQUIRE(room.begin_polling(turns));
    CHECK(room.in_company(turns));
    room.end_polling();
  }
  for (int waits = 0; waits < 10000 && room.in_company(turns); ++waits) {
    REQUIRE(room.begin_polling(turns));
    room.end_polling();
  }
  CHECK_FALSE(room.in_company(turns));
  CHECK(room.in_company(turns + 1));
}

// Returns how many of `polls` empty polls should yield.
int given_away(WaitRoom& room, int polls, std::uint32_t turns) {
  int given = 0;
  for (int i = 0; i < polls; ++i) given += room.should_yield_after_poll(turns) ? 1 : 0;
  return given;
}

TEST_CASE("empty polls yield to threads that wait or arrive, and to no others") {
  WaitRoom room;
  CHECK(given_away(room, 1000, 0) == 0);
  CHECK(given_away(room, 80, 1) == 10);  // the number of turns has changed: another thread was in MPI
  CHECK(given_away(room, 1000, 1) < 10);
  CHECK(given_away(room, 1000, 1) == 0);
  REQUIRE(room.begin_polling(2));
  CHECK(given_away(room, 1000, 3) == 125);
  CHECK(given_away(room, 1000, 3) == 125);
  room.end_polling();
  CHECK(given_away(room, 1000, 3) == 0);
}

}  // namespace
}  // namespace margay::mpi_adi
