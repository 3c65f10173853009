// Tests of the shared-memory barrier, with threads in place of processes: after it all members read the data that all
// wrote before it, no side is written while a member reads it, and after a failed call no member waits for ever.
#include "sim/shm/shared_barrier.hpp"

#include <doctest/doctest.h>
#include <sched.h>

#include <array>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/seeds.hpp"

namespace margay::sim {
namespace {

using ArrivalOrder = SharedBarrier::ArrivalOrder;

constexpr std::uint32_t kMark = 0x54321;
constexpr std::uint32_t kNumbers = std::uint32_t{1} << SharedBarrier::kNumberBits;

// Several barriers at once, each with a line of its own and two sides.
struct Table {
  struct alignas(kCacheLineBytes) Part {
    std::array<std::uint64_t, 8> words{};
  };
  explicit Table(std::size_t members) : parts(members) {}
  SharedBarrierData data;
  std::vector<std::array<Part, 2>> parts;
};

void lag(std::mt19937_64& random) {
  for (std::uint64_t yields = random() % 3; yields-- > 0;) sched_yield();
}

}  // namespace

TEST_CASE("shared barrier: all members read the data that all wrote, in each call, for any numbers") {
  constexpr std::uint32_t kCalls = 4000;
  for (const std::uint32_t members : {2U, 3U, 5U}) {
    for (const std::uint64_t seed : testing::Seeds(3)) {
      CAPTURE(members);
      Table table(members);
      std::vector<std::uint64_t> wrong(members), opened(members);
      const auto member = [&](std::uint32_t me) {
        std::mt19937_64 random(seed * 100 + me);
        SharedBarrier barrier(table.data, members);
        // The numbers wrap during the test, and are not consecutive, because other calls use those between.
        std::uint32_t number = kNumbers - kCalls;
        for (std::uint64_t call = 1; call <= kCalls; ++call) {
          number = (number + 1 + static_cast<std::uint32_t>(call % 3)) % kNumbers;
          if (number == 0) number = 1;
          lag(random);
          const unsigned side = barrier.side();
          table.parts[me][side].words.fill(call * 1000 + me);
          const ArrivalOrder came = barrier.arrive(number, kMark);
          if (came == ArrivalOrder::last) {
            lag(random);
            ++opened[me];
            barrier.open(number, me);
          } else {
            while (!barrier.is_open(number, side)) sched_yield();
          }
          if (barrier.marks_differ() || barrier.opener() >= members || barrier.is_abandoned(number, side)) ++wrong[me];
          if (came == ArrivalOrder::last && barrier.opener() != me) ++wrong[me];
          lag(random);
          for (std::uint32_t other = 0; other < members; ++other) {
            for (const std::uint64_t word : table.parts[other][side].words) {
              if (word != call * 1000 + other) ++wrong[me];
            }
          }
        }
      };
      std::vector<std::thread> threads;
      for (std::uint32_t me = 0; me < members; ++me) threads.emplace_back(member, me);
      for (std::thread& thread : threads) thread.join();
      std::uint64_t all_opened = 0;
      for (std::uint32_t me = 0; me < members; ++me) {
        CHECK(wrong[me] == 0);
        all_opened += opened[me];
      }
      CHECK(all_opened == kCalls);
    }
  }
}

TEST_CASE("shared barrier: different marks are reported to all, and the next barrier is unaffected") {
  SharedBarrierData data;
  SharedBarrier barrier(data, 3);
  const unsigned before = barrier.side();
  CHECK(barrier.arrive(1, kMark) == ArrivalOrder::waits);
  CHECK(barrier.arrive(1, kMark + 1) == ArrivalOrder::waits);
  CHECK(barrier.arrive(1, kMark) == ArrivalOrder::last);
  CHECK(barrier.has_other_marks());
  barrier.open(1, 2);
  CHECK(barrier.is_open(1, before));
  CHECK(barrier.marks_differ());
  const unsigned side = barrier.side();
  CHECK(barrier.arrive(2, kMark) == ArrivalOrder::waits);
  CHECK(barrier.arrive(2, kMark) == ArrivalOrder::waits);
  CHECK_FALSE(barrier.is_open(2, side));
  CHECK(barrier.is_open(1, before));  // for members that have not polled yet
  CHECK(barrier.side() == side);
  CHECK(barrier.arrive(2, kMark) == ArrivalOrder::last);
  CHECK_FALSE(barrier.has_other_marks());
  barrier.open(2, 1);
  CHECK_FALSE(barrier.marks_differ());
  CHECK(barrier.opener() == 1);
  CHECK(barrier.side() != side);
}

TEST_CASE("shared barrier: a member that waits for others that went on detects that, and so does a late one") {
  for (const std::uint32_t number : {5U, kNumbers - 1}) {
    CAPTURE(number);
    const std::uint32_t later = number == 5 ? 9 : 2;
    SharedBarrierData data;
    SharedBarrier barrier(data, 2);
    const unsigned side = barrier.side();
    CHECK(barrier.arrive(number, kMark) == ArrivalOrder::waits);
    CHECK_FALSE(barrier.is_abandoned(number, side));
    CHECK(barrier.arrive(later, kMark) == ArrivalOrder::waits);
    CHECK(barrier.is_abandoned(number, side));
    CHECK(barrier.arrive(number, kMark) == ArrivalOrder::late);
    CHECK_FALSE(barrier.is_open(number, side));
    // It then enters the later one.
    CHECK(barrier.arrive(later, kMark) == ArrivalOrder::last);
    barrier.open(later, 0);
    CHECK(barrier.is_open(later, side));
    CHECK_FALSE(barrier.is_abandoned(later, side));
  }
}

TEST_CASE("shared barrier: an open one is not abandoned when the next one begins") {
  SharedBarrierData data;
  SharedBarrier barrier(data, 2);
  const unsigned side = barrier.side();
  CHECK(barrier.arrive(1, kMark) == ArrivalOrder::waits);
  CHECK(barrier.arrive(1, kMark) == ArrivalOrder::last);
  barrier.open(1, 1);
  CHECK(barrier.arrive(2, kMark) == ArrivalOrder::waits);
  CHECK(barrier.is_open(1, side));
  CHECK_FALSE(barrier.is_abandoned(1, side));
}

// Other calls use the numbers between, any number of them.
TEST_CASE("shared barrier: a number at half of the range from the last one does not count as an earlier one") {
  SharedBarrierData data;
  SharedBarrier barrier(data, 2);
  std::uint32_t number = 1;
  for (int again = 0; again < 5; ++again) {
    const unsigned side = barrier.side();
    CHECK(barrier.arrive(number, kMark) == ArrivalOrder::waits);
    CHECK(barrier.arrive(number, kMark) == ArrivalOrder::last);
    barrier.open(number, 1);
    CHECK(barrier.is_open(number, side));
    number = (number + kNumbers / 2 + 7) % kNumbers;
  }
}

// The numbers wrapped between the two, by calls without a barrier.
TEST_CASE("shared barrier: one with the number of the previous one is distinguished from it") {
  SharedBarrierData data;
  SharedBarrier barrier(data, 2);
  CHECK(barrier.latest() == 0);
  for (int again = 0; again < 3; ++again) {
    CAPTURE(again);
    const unsigned side = barrier.side();
    CHECK(barrier.arrive(7, kMark) == ArrivalOrder::waits);
    CHECK_FALSE(barrier.is_open(7, side));
    CHECK_FALSE(barrier.is_abandoned(7, side));
    CHECK(barrier.latest() == 7);
    CHECK(barrier.arrive(7, kMark) == ArrivalOrder::last);
    CHECK_FALSE(barrier.is_open(7, side));
    barrier.open(7, 1);
    CHECK(barrier.is_open(7, side));
    CHECK(barrier.side() != side);
    CHECK(barrier.latest() == 0);  // no member has entered the next one
  }
}

TEST_CASE("shared barrier: after all have left, the memory is in its initial state") {
  SharedBarrierData data;
  SharedBarrier first(data, 2);
  const unsigned side = first.side();
  CHECK(first.arrive(100, kMark) == ArrivalOrder::waits);
  CHECK(first.arrive(100, kMark) == ArrivalOrder::last);
  first.open(100, 1);
  const std::uint32_t round = first.round();
  first.leave([] {});
  CHECK(first.round() == round);
  CHECK(first.is_open(100, side));  // for members that have not polled yet
  first.leave([] {});
  CHECK(first.round() == round + 1);
  SharedBarrier second(data, 3);
  CHECK(second.arrive(1, kMark) == ArrivalOrder::waits);
  CHECK_FALSE(second.is_open(1, second.side()));
}

}  // namespace margay::sim
