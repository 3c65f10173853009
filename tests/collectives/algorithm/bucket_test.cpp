// Tests of the bucket algorithms over the virtual wire: rings of any size, rows of any length (some slices are empty,
// some take many pieces), successive calls whose streams overlap, and a lost rank.
#include <array>
#include <memory>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/select/perform.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

std::size_t row_length(std::uint64_t seed) {
  constexpr std::size_t kCounts[] = {0, 1, 3, 40, 3000, 40'000};
  return kCounts[seed % 6];
}

// Element i of a rank's row, and the sum of all ranks' elements.
std::uint64_t element(int rank, std::size_t i) {
  return i * 3 + static_cast<std::uint64_t>(rank) * 1001;
}
Words words_of_rank(int rank, std::size_t count) {
  Words row(count);
  for (std::size_t i = 0; i < count; ++i) row[i] = element(rank, i);
  return row;
}
Words sums(int ranks, std::size_t count) {
  Words all(count);
  for (int rank = 0; rank < ranks; ++rank) {
    for (std::size_t i = 0; i < count; ++i) all[i] += element(rank, i);
  }
  return all;
}

Steps allreduce(Collective& collective, Words& row) {
  return allreduce_bucket(
      collective, {bytes_of(row), row.size(), sizeof(std::uint64_t), predefined_combine(MPI_SUM, MPI_UINT64_T)});
}

}  // namespace

TEST_CASE("an allreduce by buckets gives the sum, for any ring and row") {
  for (const int size : {1, 2, 3, 5, 8}) {
    for (const std::uint64_t seed : testing::Seeds(12)) {
      CAPTURE(size);
      CAPTURE(seed);
      const std::size_t count = row_length(seed);
      CollectiveWorld world({.ranks = size, .seed = seed});
      CHECK(world.run([&](int rank) {
        Words row = words_of_rank(rank, count);
        CHECK(world.call(rank, [&](Collective& collective) { return allreduce(collective, row); }) == MPI_SUCCESS);
        CHECK(row == sums(size, count));
      }));
    }
  }
}

TEST_CASE(
    "a broadcast by buckets or along the chain delivers all bytes from any root, also into noncontiguous memory") {
  for (const int size : {2, 3, 6}) {
    for (const std::uint64_t seed : testing::Seeds(24)) {
      const char* const asked = seed % 3 == 0 ? "bcast=bucket" : "bcast=chain";
      CAPTURE(asked);
      CAPTURE(size);
      CAPTURE(seed);
      const int root = static_cast<int>(seed % static_cast<std::uint64_t>(size));
      const std::size_t count = row_length(seed / 2);
      CollectiveWorld world({.ranks = size, .seed = seed, .asked = asked});
      CHECK(world.run([&](int rank) {
        Words row = rank == root ? words_of_rank(root, count) : Words(count);
        const std::size_t half = count / 2;
        const std::array<portals::Buffer, 2> pieces{portals::Buffer{bytes_of(row), half * 8},
                                                    portals::Buffer{bytes_of(row) + half * 8, (count - half) * 8}};
        const portals::Region data =
            seed % 2 == 0 ? portals::Region(bytes_of(row), count * 8) : portals::Region(std::span(pieces));
        CHECK(perform(world.portal(rank), world.communicator(rank), BcastCall{root, data}) == MPI_SUCCESS);
        CHECK(row == words_of_rank(root, count));
      }));
    }
  }
}

TEST_CASE("each rank's slices go round the ring") {
  for (const int size : {2, 4, 7}) {
    for (const std::uint64_t seed : testing::Seeds(12)) {
      CAPTURE(size);
      CAPTURE(seed);
      std::vector<Slice> slices;
      std::size_t count = 0;
      for (int rank = 0; rank < size; ++rank) {
        slices.push_back({count, row_length(seed + static_cast<std::uint64_t>(rank)) / 2});
        count += slices.back().count;
      }
      CollectiveWorld world({.ranks = size, .seed = seed});
      CHECK(world.run([&](int rank) {
        const Slice mine = slices[static_cast<std::size_t>(rank)];
        const Words all = sums(size, count);
        Words row = words_of_rank(rank, count);
        CHECK(world.call(rank, [&](Collective& collective) {
          return reduce_scatter_bucket(collective, {bytes_of(row), count, 8, predefined_combine(MPI_SUM, MPI_UINT64_T)},
                                       slices);
        }) == MPI_SUCCESS);
        for (std::size_t i = mine.first; i < mine.first + mine.count; ++i) CHECK(row[i] == all[i]);
        for (std::size_t i = 0; i < count; ++i) {
          if (i < mine.first || i >= mine.first + mine.count) row[i] = 0;
        }
        CHECK(world.call(rank, [&](Collective& collective) {
          return collect_bucket(collective, Members::all_members(size, rank),
                                {portals::Region(bytes_of(row), count * 8), slices, 8}, kNoMember);
        }) == MPI_SUCCESS);
        CHECK(row == all);
      }));
    }
  }
}

// Section 3.3: successive operations overlap. There are more calls than stream portals, and they end in any order.
TEST_CASE("the streams of overlapping calls do not mix, though there are fewer portals than streams") {
  for (const std::uint64_t seed : testing::Seeds(20)) {
    CAPTURE(seed);
    constexpr int kSize = 3;
    constexpr std::size_t kCalls = 40;
    CollectiveWorld world({.ranks = kSize, .seed = seed});
    CHECK(world.run([&](int rank) {
      std::vector<Words> rows;
      std::vector<std::unique_ptr<StoppingCall>> calls;
      for (std::size_t call = 0; call < kCalls; ++call) rows.push_back(words_of_rank(rank, 100 + call));
      for (std::size_t call = 0; call < kCalls; ++call) {
        calls.push_back(world.begin_call(
            rank, [&rows, call](Collective& collective) { return allreduce(collective, rows[call]); }));
      }
      for (std::size_t call = 0; call < kCalls; ++call) {
        const std::size_t at = (call * 7 + seed) % kCalls;
        world.wait_for(rank, *calls[at]);
        CHECK(calls[at]->error_class() == MPI_SUCCESS);
        CHECK(rows[at] == sums(kSize, 100 + at));
      }
    }));
  }
}

TEST_CASE("a lost rank ends every rank's allreduce by buckets with an error, and does not affect later streams") {
  for (const int size : {2, 3, 5}) {
    for (const std::uint64_t seed : testing::Seeds(20)) {
      CAPTURE(size);
      CAPTURE(seed);
      CollectiveWorld world({.ranks = size, .seed = seed});
      CHECK(world.run(
          [&](int rank) {
            for (const std::size_t count : {std::size_t{3000}, std::size_t{20'000}}) {
              Words row = words_of_rank(rank, count);
              CHECK(world.call(rank, [&](Collective& collective) { return allreduce(collective, row); }) ==
                    MPIX_ERR_PROC_FAILED);
            }
          },
          static_cast<int>(seed % static_cast<std::uint64_t>(size))));
    }
  }
}

}  // namespace margay::collectives
