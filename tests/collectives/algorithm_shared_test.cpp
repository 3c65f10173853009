// Calls through memory that all members see: results, in the order of ranks; calls that do not fit each other; lost
// ranks.
#include <cstring>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/select/facts.hpp"
#include "collectives/select/perform.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/operands.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

constexpr int kTeams[] = {2, 3, 5, 8, 13};
constexpr std::size_t kCounts[] = {0, 1, 3, 4, 5, 63, 1024};  // of maps: a line has room for four
static_assert(1024 * sizeof(Map) == sim::kMeetingPartBytes);

// Asked for, as tests count what is cheaper where each rank has a processor.
constexpr const char* kShared =
    "barrier=shared,allreduce=shared,allgather=shared,reduce_scatter=shared,scan=shared,exscan=shared";

CollectiveWorld::Options of(int ranks, std::uint64_t seed) {
  return {.ranks = ranks, .seed = seed, .asked = kShared, .shares_memory = true};
}

Reduction reduction_of(std::vector<Map>& data) {
  return {reinterpret_cast<std::byte*>(data.data()), data.size(), sizeof(Map), Reducer(&compose, false)};
}

template <typename What>
int performed(CollectiveWorld& world, int rank, const What& what) {
  const StandingFacts& standing = facts_of(world.portal(rank).host(), world.communicator(rank)).of_waiting();
  REQUIRE(what.plan(standing).algorithm == Algorithm::shared);
  return perform(world.portal(rank), world.communicator(rank), what);
}

}  // namespace

TEST_CASE("through memory: reductions and scans keep the order of ranks, call after call") {
  for (const int size : kTeams) {
    for (const std::uint64_t seed : testing::Seeds(4)) {
      CAPTURE(size);
      CAPTURE(seed);
      CollectiveWorld world(of(size, seed));
      CHECK(world.run([&](int rank) {
        for (const std::size_t count : kCounts) {
          std::vector<Map> sum = maps_of(rank, count);
          CHECK(performed(world, rank, AllreduceCall{reduction_of(sum)}) == MPI_SUCCESS);
          CHECK(sum == composed(size, count));
          std::vector<Map> up_to = maps_of(rank, count);
          CHECK(performed(world, rank, ScanCall{ScanKind::inclusive, reduction_of(up_to)}) == MPI_SUCCESS);
          CHECK(up_to == composed(rank + 1, count));
          std::vector<Map> before = maps_of(rank, count);
          CHECK(performed(world, rank, ScanCall{ScanKind::exclusive, reduction_of(before)}) == MPI_SUCCESS);
          if (rank > 0) CHECK(before == composed(rank, count));
          CHECK(performed(world, rank, BarrierCall{}) == MPI_SUCCESS);
        }
      }));
      CHECK(world.portal(0).sent().messages == 0);
    }
  }
}

TEST_CASE("through memory: each rank gets its block of a reduction, blocks of any length") {
  for (const int size : kTeams) {
    for (const std::uint64_t seed : testing::Seeds(4)) {
      CAPTURE(size);
      CAPTURE(seed);
      CollectiveWorld world(of(size, seed));
      std::mt19937_64 random(seed);
      std::vector<std::uint64_t> bytes(static_cast<std::size_t>(size));
      for (std::uint64_t& block : bytes) block = random() % 5 * sizeof(Map);
      const std::size_t count = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}) / sizeof(Map);
      CHECK(world.run([&](int rank) {
        std::vector<Map> mine = maps_of(rank, count);
        CHECK(performed(world, rank, ReduceScatterCall{reduction_of(mine), bytes}) == MPI_SUCCESS);
        const std::vector<Map> all = composed(size, count);
        const auto me = static_cast<std::size_t>(rank);
        const std::size_t first = std::accumulate(bytes.begin(), bytes.begin() + rank, std::size_t{0}) / sizeof(Map);
        for (std::size_t at = first; at < first + bytes[me] / sizeof(Map); ++at) CHECK(mine[at] == all[at]);
      }));
    }
  }
}

TEST_CASE("through memory: all blocks come to all") {
  for (const int size : kTeams) {
    for (const std::uint64_t block : {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{65}, sim::kMeetingPartBytes}) {
      CAPTURE(size);
      CAPTURE(block);
      CollectiveWorld world(of(size, block));
      CHECK(world.run([&](int rank) {
        std::vector<std::byte> mine(block, static_cast<std::byte>(rank + 1)),
            all(block * static_cast<std::size_t>(size));
        for (int again = 0; again < 3; ++again) {
          std::fill(all.begin(), all.end(), std::byte{0});
          CHECK(performed(world, rank, AllgatherCall{portals::Region(mine.data(), block), block, all.data()}) ==
                MPI_SUCCESS);
          for (std::size_t at = 0; at < all.size(); ++at) REQUIRE(all[at] == static_cast<std::byte>(at / block + 1));
        }
      }));
    }
  }
}

// One member names another length: shown in memory too, or so long that it goes by messages.
TEST_CASE("through memory: other lengths and other calls are an error on all members, and the next call goes well") {
  for (const std::size_t other : {std::size_t{0}, std::size_t{2}, std::size_t{1024}, std::size_t{5000}}) {
    for (const std::uint64_t seed : testing::Seeds(12)) {
      CAPTURE(other);
      CAPTURE(seed);
      const int size = 2 + static_cast<int>(seed % 5);
      const int one = static_cast<int>(seed / 5 % static_cast<std::uint64_t>(size));
      CollectiveWorld world(of(size, seed));
      CHECK(world.run([&](int rank) {
        std::vector<Map> mine = maps_of(rank, rank == one ? other : 3);
        const AllreduceCall call{reduction_of(mine)};
        CHECK(perform(world.portal(rank), world.communicator(rank), call) == MPI_ERR_TRUNCATE);
        std::vector<Map> next = maps_of(rank, 3);
        CHECK(performed(world, rank, AllreduceCall{reduction_of(next)}) == MPI_SUCCESS);
        CHECK(next == composed(size, 3));
      }));
    }
  }
}

TEST_CASE("through memory: a member that makes a call by messages is found, and finds it") {
  for (const std::uint64_t seed : testing::Seeds(12)) {
    CAPTURE(seed);
    const int size = 2 + static_cast<int>(seed % 5);
    const int one = static_cast<int>(seed / 5 % static_cast<std::uint64_t>(size));
    CollectiveWorld world(of(size, seed));
    CHECK(world.run([&](int rank) {
      std::vector<std::byte> word(8);
      if (rank == one) {
        // Of its own root: it has sent before the others can tell it that they make another call.
        const BcastCall call{one, portals::Region(word.data(), word.size())};
        static_cast<void>(perform(world.portal(rank), world.communicator(rank), call));
      } else {
        CHECK(perform(world.portal(rank), world.communicator(rank), BarrierCall{}) == MPI_ERR_TRUNCATE);
      }
    }));
  }
}

TEST_CASE("through memory: without a lost rank nobody goes on, and nobody waits for ever") {
  for (const std::uint64_t seed : testing::Seeds(20)) {
    CAPTURE(seed);
    const int size = 2 + static_cast<int>(seed % 6);
    const int absent = static_cast<int>(seed * 7 % static_cast<std::uint64_t>(size));
    CollectiveWorld world(of(size, seed));
    CHECK(world.run(
        [&](int rank) {
          std::vector<Map> mine = maps_of(rank, 2);
          CHECK(performed(world, rank, AllreduceCall{reduction_of(mine)}) == MPIX_ERR_PROC_FAILED);
          CHECK(performed(world, rank, BarrierCall{}) == MPIX_ERR_PROC_FAILED);
        },
        absent));
  }
}

}  // namespace margay::collectives
