// Tests of waits for all accesses that began before the wait, against a simple implementation with a set for each wait.
#include "mpi_adi/rma/window.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/support/seeds.hpp"

namespace margay::mpi_adi {

TEST_CASE("under way: a wait ends with the accesses that began before it, whatever begins meanwhile") {
  OperationCounter accesses;
  const std::uint32_t first = accesses.begin();
  const std::uint32_t then = accesses.now();
  CHECK_FALSE(accesses.over(then));
  const std::uint32_t second = accesses.begin();
  accesses.end(first);
  CHECK(accesses.over(then));
  CHECK_FALSE(accesses.none());
  // A wait that polls late: other accesses have begun and ended two generations since.
  const std::uint32_t slow = accesses.now();
  const std::uint32_t third = accesses.begin();
  accesses.end(second);
  accesses.end(third);
  CHECK(accesses.none());
  CHECK(accesses.over(slow));
}

namespace {

struct Begun {
  int number;
  std::uint32_t generation;
};
struct Wait {
  std::uint32_t then;
  std::vector<int> for_these;
};

}  // namespace

TEST_CASE("under way: random accesses and waits of several threads end as in the simple implementation") {
  for (const std::uint64_t seed : testing::Seeds(200)) {
    std::mt19937_64 draw(seed);
    OperationCounter accesses;
    std::vector<Begun> begun;
    std::vector<Wait> waits;
    for (int number = 0; number < 500; ++number) {
      if (draw() % 2 == 0) begun.push_back({number, accesses.begin()});
      if (draw() % 2 == 0 && !begun.empty()) {
        const std::size_t which = draw() % begun.size();
        const Begun ended = begun[which];
        begun.erase(begun.begin() + static_cast<std::ptrdiff_t>(which));
        accesses.end(ended.generation);
        for (Wait& wait : waits) std::erase(wait.for_these, ended.number);
      }
      if (draw() % 8 == 0) {
        Wait wait{accesses.now(), {}};
        for (const Begun& access : begun) wait.for_these.push_back(access.number);
        waits.push_back(wait);
      }
      // Expect: no wait ends too early.
      std::erase_if(waits, [&](const Wait& wait) {
        const bool over = draw() % 2 == 0 && accesses.over(wait.then);
        if (over) CHECK_MESSAGE(wait.for_these.empty(), "seed ", seed);
        return over;
      });
    }
    // With new accesses all the time, a wait ends when the old ones have ended, at most one generation later.
    const std::vector<Begun> old = begun;
    for (int round = 0; round < 3; ++round) {
      const std::uint32_t fresh = accesses.begin();
      if (round == 0) {
        for (const Begun& access : old) accesses.end(access.generation);
      }
      for (const Wait& wait : waits) static_cast<void>(accesses.over(wait.then));
      const std::uint32_t next = accesses.begin();
      accesses.end(fresh);
      for (const Wait& wait : waits) static_cast<void>(accesses.over(wait.then));
      if (round == 2) {
        for (const Wait& wait : waits) CHECK_MESSAGE(accesses.over(wait.then), "seed ", seed);
      }
      accesses.end(next);
    }
  }
}

}  // namespace margay::mpi_adi
