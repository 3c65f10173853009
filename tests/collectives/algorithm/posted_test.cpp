// Tests of calls in which members post data in shared memory, and return without waiting for the readers: results of
// successive calls, roots that run ahead, mismatching calls, lost ranks.
#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/post.hpp"
#include "collectives/select/facts.hpp"
#include "collectives/select/perform.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/operands.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

// Numbers of maps: within the line, within the posting behind it, and beyond both.
constexpr std::size_t kPostedCounts[] = {0, 1, 2, 3, 63, 64, 65, 4096};
static_assert(2 * sizeof(Map) <= sizeof(sim::PostingData::here) && 3 * sizeof(Map) > sizeof(sim::PostingData::here));
static_assert(64 * sizeof(Map) == sim::kPostingBytes && 4096 * sizeof(Map) == kPostedBytes);

CollectiveWorld::Options posting(int ranks, std::uint64_t seed) {
  return {.ranks = ranks,
          .seed = seed,
          .crowded = true,
          .asked = "bcast=shared,reduce=shared,gather=shared,scatter=shared,scan=shared,exscan=shared",
          .shares_memory = true};
}

const StandingFacts& facts(CollectiveWorld& world, int rank) {
  return facts_of(world.portal(rank).host(), world.communicator(rank)).of_blocking();
}

template <typename What>
int posted(CollectiveWorld& world, int rank, const What& what) {
  REQUIRE(plan_of(what, facts(world, rank)).algorithm == Algorithm::shared);
  return perform(world.portal(rank), world.communicator(rank), what);
}

portals::Region bytes_of(std::vector<Map>& maps) {
  return portals::Region(reinterpret_cast<std::byte*>(maps.data()), maps.size() * sizeof(Map));
}

Reduction sum_of(std::vector<Map>& maps) {
  return {reinterpret_cast<std::byte*>(maps.data()), maps.size(), sizeof(Map), Reducer(&compose, false)};
}

// Makes a random call with a random root. `random` draws the same on all ranks; `step` varies the data.
void call_each(CollectiveWorld& world, int rank, std::size_t step, std::mt19937_64& random) {
  const int size = world.size();
  const int root = static_cast<int>(random() % static_cast<std::uint64_t>(size));
  const std::size_t count = kPostedCounts[random() % std::size(kPostedCounts)];
  CAPTURE(step);
  CAPTURE(count);
  CAPTURE(rank);
  std::vector<Map> data = maps_of(rank + static_cast<int>(step), count);
  switch (random() % 5) {
    case 0: {
      CHECK(posted(world, rank, BcastCall{root, bytes_of(data)}) == MPI_SUCCESS);
      CHECK(data == maps_of(root + static_cast<int>(step), count));
      return;
    }
    case 1: {
      std::vector<Map> mine = maps_of(rank, count);
      CHECK(posted(world, rank, ReduceCall{root, sum_of(mine)}) == MPI_SUCCESS);
      if (rank == root) CHECK(mine == composed(size, count));
      return;
    }
    case 2: {
      std::vector<Map> all(rank == root ? count * static_cast<std::size_t>(size) : 0);
      const GatherCall call{root, bytes_of(data), count * sizeof(Map),
                            rank == root ? reinterpret_cast<std::byte*>(all.data()) : nullptr};
      CHECK(posted(world, rank, call) == MPI_SUCCESS);
      for (int from = 0; rank == root && from < size; ++from) {
        const std::vector<Map> expected = maps_of(from + static_cast<int>(step), count);
        CHECK(std::equal(expected.begin(), expected.end(), all.begin() + from * static_cast<std::ptrdiff_t>(count)));
      }
      return;
    }
    case 3: {
      std::vector<Map> mine = maps_of(rank, count);
      CHECK(posted(world, rank, ScanCall{ScanKind::inclusive, sum_of(mine)}) == MPI_SUCCESS);
      CHECK(mine == composed(rank + 1, count));
      return;
    }
    default: {
      std::vector<Map> mine = maps_of(rank, count);
      CHECK(posted(world, rank, ScanCall{ScanKind::exclusive, sum_of(mine)}) == MPI_SUCCESS);
      if (rank > 0) CHECK(mine == composed(rank, count));
    }
  }
}

}  // namespace

TEST_CASE("posted: any sequence of calls, of any root and length, more than there are postings") {
  for (const int size : {2, 3, 5, 8}) {
    for (const std::uint64_t seed : testing::Seeds(4)) {
      CAPTURE(size);
      CAPTURE(seed);
      CollectiveWorld world(posting(size, seed));
      CHECK(world.run([&](int rank) {
        std::mt19937_64 random(seed);  // the same on all ranks
        for (std::size_t step = 0; step < 3 * sim::kPostings; ++step) call_each(world, rank, step, random);
      }));
      for (int rank = 0; rank < size; ++rank) CHECK(world.portal(rank).sent().messages == 0);
    }
  }
}

TEST_CASE("posted: a root runs ahead by as many calls as it has postings, and no further") {
  for (const std::size_t count : {std::size_t{1}, std::size_t{64}, std::size_t{4096}}) {
    CAPTURE(count);
    const std::uint64_t ahead = count == 4096 ? sim::kLongPostings : sim::kPostings;
    CollectiveWorld world(posting(3, count));
    std::uint64_t sent = 0, most = 0;
    CHECK(world.run([&](int rank) {
      for (std::uint64_t step = 0; step < 4 * ahead; ++step) {
        std::vector<Map> data = maps_of(rank == 0 ? static_cast<int>(step) : 99, count);
        CHECK(posted(world, rank, BcastCall{0, bytes_of(data)}) == MPI_SUCCESS);
        CHECK(data == maps_of(static_cast<int>(step), count));
        if (rank == 0) ++sent;
        if (rank == 1) most = std::max(most, sent - step);
      }
    }));
    CHECK(most > 1);
    CHECK(most <= ahead + 1);
  }
}

TEST_CASE("posted: each rank gets its block of the root's") {
  for (const std::uint64_t seed : testing::Seeds(6)) {
    CAPTURE(seed);
    const int size = 2 + static_cast<int>(seed % 7);
    CollectiveWorld world(posting(size, seed));
    CHECK(world.run([&](int rank) {
      std::mt19937_64 random(seed);
      for (int step = 0; step < 100; ++step) {
        const int root = static_cast<int>(random() % static_cast<std::uint64_t>(size));
        const std::size_t count = random() % (kPostedBytes / sizeof(Map) / static_cast<std::size_t>(size));
        std::vector<Map> all, mine(count);
        for (int to = 0; rank == root && to < size; ++to) {
          const std::vector<Map> block = maps_of(to + step, count);
          all.insert(all.end(), block.begin(), block.end());
        }
        const ScatterCall call{root, bytes_of(mine), count * sizeof(Map), bytes_of(all)};
        CHECK(posted(world, rank, call) == MPI_SUCCESS);
        CHECK(mine == maps_of(rank + step, count));
      }
    }));
  }
}

TEST_CASE("posted: if one rank posts and the others go strip by strip, all get an error") {
  for (const std::uint64_t seed : testing::Seeds(12)) {
    CAPTURE(seed);
    const int size = 3 + static_cast<int>(seed % 4);
    CollectiveWorld world(posting(size, seed));
    CHECK(world.run([&](int rank) {
      std::vector<Map> data = maps_of(rank, rank == 1 ? 2000 : 6000);
      const BcastCall call{0, bytes_of(data)};
      CHECK(perform(world.portal(rank), world.communicator(rank), call) == MPI_ERR_TRUNCATE);
    }));
  }
}

// The poster may have returned before a mismatch is detected; the reader gets the error.
TEST_CASE("posted: a mismatch of length, root or call is an error for the reader, and no rank waits for ever") {
  for (int what = 0; what < 4; ++what) {
    for (const std::uint64_t seed : testing::Seeds(12)) {
      CAPTURE(what);
      CAPTURE(seed);
      const int size = 2 + static_cast<int>(seed % 5);
      const int one = static_cast<int>(seed / 5 % static_cast<std::uint64_t>(size));
      const int root = (one + 1) % size;
      CollectiveWorld world(posting(size, seed));
      CHECK(world.run([&](int rank) {
        // Another posted length, a length that goes strip by strip, another root, another operation.
        const std::size_t count = rank != one ? 3 : (what == 0 ? 70 : (what == 1 ? 9000 : 3));
        const int named = rank == one && what == 2 ? one : root;
        std::vector<Map> data = maps_of(rank, count);
        int error_class = MPI_SUCCESS;
        if (rank == one && what == 3) {
          error_class = perform(world.portal(rank), world.communicator(rank), ReduceCall{root, sum_of(data)});
        } else {
          error_class = perform(world.portal(rank), world.communicator(rank), BcastCall{named, bytes_of(data)});
        }
        if (rank == one && what < 2) CHECK(error_class == MPI_ERR_TRUNCATE);
        std::vector<Map> next = maps_of(rank, 5);
        CHECK(perform(world.portal(rank), world.communicator(rank), BcastCall{0, bytes_of(next)}) == MPI_SUCCESS);
        CHECK(next == maps_of(0, 5));
      }));
    }
  }
}

TEST_CASE("posted: a rank that waits for a lost rank, or for one that waited for it, gets an error") {
  for (const std::uint64_t seed : testing::Seeds(20)) {
    CAPTURE(seed);
    const int size = 3 + static_cast<int>(seed % 5);
    const int absent = static_cast<int>(seed * 7 % static_cast<std::uint64_t>(size));
    CollectiveWorld world(posting(size, seed));
    CHECK(world.run(
        [&](int rank) {
          std::vector<Map> mine = maps_of(rank, 2);
          const int scanned = posted(world, rank, ScanCall{ScanKind::inclusive, sum_of(mine)});
          if (rank > absent) CHECK(scanned == MPIX_ERR_PROC_FAILED);
          if (rank < absent && scanned == MPI_SUCCESS) CHECK(mine == composed(rank + 1, 2));
          std::vector<Map> data = maps_of(rank, 100);
          CHECK(posted(world, rank, BcastCall{absent, bytes_of(data)}) == MPIX_ERR_PROC_FAILED);
        },
        absent));
  }
}

}  // namespace margay::collectives
