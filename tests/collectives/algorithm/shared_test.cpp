// Tests of calls through memory that all members map: results in the order of ranks, mismatching calls, lost ranks.
#include <algorithm>
#include <array>
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
// Numbers of maps: a line has room for 4, a part for 1024, a strip for 8192.
constexpr std::size_t kCounts[] = {0, 1, 3, 4, 5, 63, 1024, 1025, 8191, 8193, 20011};
static_assert(1024 * sizeof(Map) == sim::kBarrierPartBytes && 8192 * sizeof(Map) == sim::kStripBytes);

CollectiveWorld::Options of(int ranks, std::uint64_t seed) {
  return {.ranks = ranks,
          .seed = seed,
          .crowded = seed % 2 == 0,  // a few ranks with a processor each use postings, all others a barrier
          .asked =
              "barrier=shared,scan=shared,exscan=shared,allreduce=shared,reduce=shared,bcast=shared,allgather=shared,"
              "alltoall=shared,reduce_scatter=shared",
          .shares_memory = true};
}

Reduction reduction_of(std::vector<Map>& data) {
  return {reinterpret_cast<std::byte*>(data.data()), data.size(), sizeof(Map), Reducer(&compose, false)};
}

template <typename What>
int performed(CollectiveWorld& world, int rank, const What& what) {
  const StandingFacts& standing = facts_of(world.portal(rank).host(), world.communicator(rank)).of_blocking();
  REQUIRE(plan_of(what, standing).algorithm == Algorithm::shared);
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
          CHECK(performed(world, rank, BarrierCall{}) == MPI_SUCCESS);
          if (count * sizeof(Map) > sim::kBarrierPartBytes) continue;
          std::vector<Map> up_to = maps_of(rank, count);
          CHECK(performed(world, rank, ScanCall{ScanKind::inclusive, reduction_of(up_to)}) == MPI_SUCCESS);
          CHECK(up_to == composed(rank + 1, count));
          std::vector<Map> before = maps_of(rank, count);
          CHECK(performed(world, rank, ScanCall{ScanKind::exclusive, reduction_of(before)}) == MPI_SUCCESS);
          if (rank > 0) CHECK(before == composed(rank, count));
        }
      }));
      CHECK(world.portal(0).sent().messages == 0);
    }
  }
}

// Barriers separated by calls without one, at the point where the 31 bits of a call's word wrap: a barrier that reused
// the last one's number would be open at once, and its members would read that barrier's data.
TEST_CASE("through memory: distant barriers are distinguished after the numbers of calls wrap") {
  constexpr std::uint64_t kCalls = 40;
  for (const int size : {2, 3, 5}) {
    for (const std::uint64_t made : {(std::uint64_t{1} << 31) - kCalls / 2, (std::uint64_t{1} << 29) - kCalls / 2}) {
      for (const std::uint64_t seed : testing::Seeds(4)) {
        CAPTURE(size);
        CAPTURE(made);
        CAPTURE(seed);
        CollectiveWorld world(of(size, seed));
        CHECK(world.run([&](int rank) {
          CHECK(performed(world, rank, BarrierCall{}) == MPI_SUCCESS);
          world.communicator(rank).collective_sequence = made;
          for (std::uint64_t call = 0; call < kCalls; call += 4) {
            std::vector<Map> sum = maps_of(rank, 1);
            sum[0].b += call;
            CHECK(performed(world, rank, AllreduceCall{reduction_of(sum)}) == MPI_SUCCESS);
            std::vector<Map> expected = maps_of(0, 1);
            expected[0].b += call;
            for (int other = 1; other < size; ++other) {
              std::vector<Map> next = maps_of(other, 1);
              next[0].b += call;
              compose(expected.data(), next.data(), 1);
              expected = next;
            }
            CHECK(sum == expected);
            for (std::uint64_t again = 0; again < 3; ++again) {
              std::uint64_t reported = rank == 0 ? call + again : 0;
              const BcastCall first_call{0, portals::Region(reinterpret_cast<std::byte*>(&reported), sizeof reported)};
              CHECK(performed(world, rank, first_call) == MPI_SUCCESS);
              CHECK(reported == call + again);
            }
          }
        }));
      }
    }
  }
}

// For machines on which the node's memory is allocated in full at once.
TEST_CASE("through memory: without memory for long data short calls use a barrier, and all others send messages") {
  for (const std::size_t count : {std::size_t{3}, std::size_t{1024}, std::size_t{1025}, std::size_t{20011}}) {
    CAPTURE(count);
    CollectiveWorld::Options options = of(5, count);
    options.long_slots = 0;
    CollectiveWorld world(options);
    CHECK(world.run([&](int rank) {
      CHECK_FALSE(facts_of(world.portal(rank).host(), world.communicator(rank)).of_blocking().facts.strips);
      std::vector<Map> sum = maps_of(rank, count);
      CHECK(perform(world.portal(rank), world.communicator(rank), AllreduceCall{reduction_of(sum)}) == MPI_SUCCESS);
      CHECK(sum == composed(5, count));
    }));
    CHECK((world.portal(0).sent().messages == 0) == (count * sizeof(Map) <= sim::kBarrierPartBytes));
    CHECK(world.run([&](int rank) {
      std::vector<Map> data = maps_of(rank, count);
      const BcastCall first_call{2, portals::Region(reinterpret_cast<std::byte*>(data.data()), count * sizeof(Map))};
      CHECK(perform(world.portal(rank), world.communicator(rank), first_call) == MPI_SUCCESS);
      CHECK(data == maps_of(2, count));
      std::vector<Map> part = maps_of(rank, count);
      CHECK(perform(world.portal(rank), world.communicator(rank), ReduceCall{1, reduction_of(part)}) == MPI_SUCCESS);
      if (rank == 1) CHECK(part == composed(5, count));
    }));
  }
}

TEST_CASE("through memory: long reductions to one rank, and long broadcasts, of any root") {
  for (const int size : kTeams) {
    for (const std::size_t count : {std::size_t{1025}, std::size_t{8192}, std::size_t{20011}}) {
      CAPTURE(size);
      CAPTURE(count);
      CollectiveWorld world(of(size, count));
      CHECK(world.run([&](int rank) {
        for (int root = 0; root < size; root += 2) {
          std::vector<Map> data = maps_of(rank, count);
          CHECK(performed(world, rank, ReduceCall{root, reduction_of(data)}) == MPI_SUCCESS);
          if (rank == root) CHECK(data == composed(size, count));
          // In two pieces at the destination.
          std::vector<std::byte> landing(count * sizeof(Map) + 100);
          const std::size_t half = count * sizeof(Map) / 2 - 3;
          std::array<portals::Buffer, 2> pieces{
              portals::Buffer{landing.data(), half},
              portals::Buffer{landing.data() + half + 100, count * sizeof(Map) - half}};
          if (rank == root) {
            const BcastCall call{root, portals::Region(reinterpret_cast<std::byte*>(data.data()), count * sizeof(Map))};
            CHECK(performed(world, rank, call) == MPI_SUCCESS);
            continue;
          }
          CHECK(performed(world, rank, BcastCall{root, portals::Region(pieces)}) == MPI_SUCCESS);
          const std::vector<Map> all = composed(size, count);
          CHECK(std::memcmp(landing.data(), all.data(), half) == 0);
          CHECK(std::memcmp(landing.data() + half + 100, reinterpret_cast<const std::byte*>(all.data()) + half,
                            count * sizeof(Map) - half) == 0);
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
      const std::uint64_t most = seed % 2 == 0 ? 5 : 20'000;
      for (std::uint64_t& block : bytes) block = random() % most * sizeof(Map);
      const std::size_t count = std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}) / sizeof(Map);
      const std::vector<Map> expected_all = composed(size, count);
      CHECK(world.run([&](int rank) {
        std::vector<Map> mine = maps_of(rank, count);
        CHECK(performed(world, rank, ReduceScatterCall{reduction_of(mine), bytes}) == MPI_SUCCESS);
        const std::vector<Map>& all = expected_all;
        const auto me = static_cast<std::size_t>(rank);
        const std::size_t first = std::accumulate(bytes.begin(), bytes.begin() + rank, std::size_t{0}) / sizeof(Map);
        const auto at = [first](std::vector<Map>& maps) { return maps.begin() + static_cast<std::ptrdiff_t>(first); };
        std::vector<Map> expected = all;
        CHECK(std::equal(at(mine), at(mine) + static_cast<std::ptrdiff_t>(bytes[me] / sizeof(Map)), at(expected)));
      }));
    }
  }
}

TEST_CASE("through memory: a reduction to one rank's block has as many barriers as one to even blocks") {
  constexpr std::size_t kStrips = 7, kMaps = kStrips * sim::kStripBytes / sizeof(Map);
  for (const int size : kTeams) {
    for (const int owner : {-1, 0, size - 1}) {
      CAPTURE(size);
      CAPTURE(owner);
      CollectiveWorld world(of(size, 1));
      std::vector<std::uint64_t> bytes(static_cast<std::size_t>(size));
      for (std::size_t rank = 0; rank < bytes.size(); ++rank) {
        const Slice even = even_slices(kMaps, size)[rank];
        bytes[rank] = (owner < 0 ? even.count : static_cast<int>(rank) == owner ? kMaps : 0) * sizeof(Map);
      }
      const std::vector<Map> all = composed(size, kMaps);
      CHECK(world.run([&](int rank) {
        std::vector<Map> mine = maps_of(rank, kMaps);
        CHECK(performed(world, rank, ReduceScatterCall{reduction_of(mine), bytes}) == MPI_SUCCESS);
        if (rank == owner) CHECK(mine == all);
      }));
      CHECK(world.portal(0).shown().messages == kStrips);
      CHECK(world.portal(0).shown().bytes == kStrips * sim::kStripBytes);
    }
  }
}

TEST_CASE("through memory: all ranks get all blocks") {
  for (const int size : kTeams) {
    for (const std::uint64_t block : {std::uint64_t{1}, std::uint64_t{64}, std::uint64_t{65}, sim::kBarrierPartBytes,
                                      sim::kStripBytes, sim::kStripBytes * 2 + 1}) {
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
          std::size_t wrong = 0;
          for (std::size_t at = 0; at < all.size(); ++at) wrong += all[at] != static_cast<std::byte>(at / block + 1);
          CHECK(wrong == 0);
        }
      }));
    }
  }
}

// One member names another length: in shared memory too, or so long that it sends messages.
TEST_CASE("through memory: mismatching lengths and calls are an error on all members, and the next call succeeds") {
  for (const std::size_t other :
       {std::size_t{0}, std::size_t{2}, std::size_t{1024}, std::size_t{5000}, std::size_t{9000}}) {
    for (const std::uint64_t seed : testing::Seeds(12)) {
      CAPTURE(other);
      CAPTURE(seed);
      const int size = 2 + static_cast<int>(seed % 5);
      const int one = static_cast<int>(seed / 5 % static_cast<std::uint64_t>(size));
      CollectiveWorld world(of(size, seed));
      CHECK(world.run([&](int rank) {
        const std::size_t usual = other < 5000 ? 3 : 5001;
        std::vector<Map> mine = maps_of(rank, rank == one ? other : usual);
        const AllreduceCall call{reduction_of(mine)};
        CHECK(perform(world.portal(rank), world.communicator(rank), call) == MPI_ERR_TRUNCATE);
        std::vector<Map> next = maps_of(rank, 3);
        CHECK(performed(world, rank, AllreduceCall{reduction_of(next)}) == MPI_SUCCESS);
        CHECK(next == composed(size, 3));
      }));
    }
  }
}

TEST_CASE("through memory: a member that uses messages, and the others, detect the mismatch") {
  for (const std::uint64_t seed : testing::Seeds(12)) {
    CAPTURE(seed);
    const int size = 2 + static_cast<int>(seed % 5);
    const int one = static_cast<int>(seed / 5 % static_cast<std::uint64_t>(size));
    CollectiveWorld world(of(size, seed));
    CHECK(world.run([&](int rank) {
      std::vector<std::byte> word(8);
      if (rank == one) {
        // It is the root itself, so it has sent before the others can notify it of the mismatch.
        const BcastCall call{one, portals::Region(word.data(), word.size())};
        static_cast<void>(perform(world.portal(rank), world.communicator(rank), call));
      } else {
        CHECK(perform(world.portal(rank), world.communicator(rank), BarrierCall{}) == MPI_ERR_TRUNCATE);
      }
    }));
  }
}

TEST_CASE("through memory: a lost rank ends the call of all others with an error, and no rank waits for ever") {
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
