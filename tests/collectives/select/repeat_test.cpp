// Tests that a repeated reduction gives the same bits, whichever rank is late, with each algorithm and length. Sums of
// reals depend on the order in which they are combined.
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/cost/facts.hpp"
#include "collectives/select/facts.hpp"
#include "collectives/select/perform.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

constexpr Operation kReductions[] = {Operation::reduce, Operation::allreduce, Operation::reduce_scatter,
                                     Operation::scan, Operation::exscan};
// Numbers of reals: within a line, a posting, a part or a message, pieces of a stream, strips.
constexpr std::size_t kRepeatedCounts[] = {3, 100, 900, 20000};

struct Repeated {
  Operation operation;
  Algorithm algorithm;
  int ranks;
  std::size_t count;
};

CollectiveWorld::Options world_of(const Repeated& is, std::uint64_t seed) {
  CollectiveWorld::Options options{.ranks = is.ranks, .seed = seed};
  options.asked = std::string(name(is.operation)) + "=" + std::string(name(is.algorithm));
  options.shares_memory = is.algorithm == Algorithm::shared;
  for (int rank = 0; rank < is.ranks && !options.shares_memory; ++rank) {
    options.nodes.push_back(static_cast<std::uint32_t>(rank % 2));
  }
  return options;
}

std::vector<double> addends(int rank, std::size_t count) {
  std::vector<double> row(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = static_cast<int>(i % 1000);
    row[i] = (rank + at) % 3 == 0 ? 1e16 / (rank + 1) : 1.0 / (3 * rank + at + 7);
  }
  return row;
}

// The last rank's slice is the longest.
std::vector<Slice> slices_of(const Repeated& is) {
  std::vector<Slice> slices;
  const std::size_t most = static_cast<std::size_t>(is.ranks) + 1;
  for (int rank = 0; rank < is.ranks; ++rank) slices.push_back({rank * (is.count / most), is.count / most});
  slices.back().count = is.count - slices.back().first;
  return slices;
}

template <typename What>
bool performed(CollectiveWorld& world, int rank, const Repeated& is, const What& what) {
  const StandingFacts& standing = facts_of(world.portal(rank).host(), world.communicator(rank)).of_blocking();
  if (plan_of(what, standing).algorithm != is.algorithm) return false;
  CHECK(perform(world.portal(rank), world.communicator(rank), what) == MPI_SUCCESS);
  return true;
}

// The rank's part of the result; empty if the algorithm cannot do the operation.
std::vector<double> result(CollectiveWorld& world, int rank, const Repeated& is) {
  std::vector<double> row = addends(rank, is.count);
  const Reduction reduction{reinterpret_cast<std::byte*>(row.data()), is.count, sizeof(double),
                            predefined_combine(MPI_SUM, MPI_DOUBLE)};
  const int root = is.ranks / 2;
  if (is.operation == Operation::reduce) {
    return performed(world, rank, is, ReduceCall{root, reduction}) && rank == root ? row : std::vector<double>();
  }
  if (is.operation == Operation::reduce_scatter) {
    const std::vector<Slice> slices = slices_of(is);
    std::vector<std::uint64_t> lengths;
    for (const Slice& slice : slices) lengths.push_back(slice.count * sizeof(double));
    if (!performed(world, rank, is, ReduceScatterCall{reduction, lengths})) return {};
    const Slice& mine = slices[static_cast<std::size_t>(rank)];
    const double* const from = row.data() + mine.first;
    return {from, from + mine.count};
  }
  bool did = false;
  if (is.operation == Operation::allreduce) {
    did = performed(world, rank, is, AllreduceCall{reduction});
  } else {
    const ScanKind kind = is.operation == Operation::scan ? ScanKind::inclusive : ScanKind::exclusive;
    did = performed(world, rank, is, ScanCall{kind, reduction}) && (kind == ScanKind::inclusive || rank > 0);
  }
  return did ? row : std::vector<double>();
}

// Whether a rank had a result.
bool gives_the_same_bits(const Repeated& is) {
  std::vector<std::vector<double>> first(static_cast<std::size_t>(is.ranks));
  bool some = false;
  for (const std::uint64_t seed : testing::Seeds(3)) {
    CAPTURE(seed);
    CollectiveWorld world(world_of(is, seed));
    CHECK(world.run([&](int rank) {
      for (int time = 0; time < 2; ++time) {
        const std::vector<double> row = result(world, rank, is);
        std::vector<double>& before = first[static_cast<std::size_t>(rank)];
        if (before.empty()) before = row;
        REQUIRE(row.size() == before.size());
        some |= !row.empty();
        if (!row.empty()) CHECK(std::memcmp(row.data(), before.data(), row.size() * sizeof(double)) == 0);
      }
    }));
  }
  return some;
}

}  // namespace

TEST_CASE("a repeated reduction gives the same bits") {
  for (const Operation operation : kReductions) {
    for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
      const auto algorithm = static_cast<Algorithm>(at);
      if (!does(algorithm, operation)) continue;
      CAPTURE(name(operation));
      CAPTURE(name(algorithm));
      bool some = false;
      for (const int ranks : {3, 6}) {
        for (const std::size_t count : kRepeatedCounts) {
          CAPTURE(ranks);
          CAPTURE(count);
          some |= gives_the_same_bits({operation, algorithm, ranks, count});
        }
      }
      CHECK(some);
    }
  }
}

}  // namespace margay::collectives
