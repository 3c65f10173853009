// Tests of whole operations: members choose the same algorithm without communication, and any sequence of operations
// gives the right results.
#include "collectives/select/perform.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/select/facts.hpp"
#include "tests/collectives/collective_world.hpp"
#include "tests/collectives/hybrid_plans.hpp"
#include "tests/support/seeds.hpp"

namespace margay::collectives {
namespace {

CollectiveWorld::Options random_world(std::uint64_t seed) {
  std::mt19937_64 random(seed * 77);
  CollectiveWorld::Options options;
  options.ranks = 1 + static_cast<int>(random() % 12);
  options.seed = seed;
  const std::uint64_t nodes = 1 + random() % 3;
  options.crowded = random() % 2 == 0;
  for (int rank = 0; rank < options.ranks; ++rank) {
    options.nodes.push_back(static_cast<std::uint32_t>(random() % nodes));
  }
  return options;
}

}  // namespace

TEST_CASE("members have the same facts about their communicator, without communication") {
  for (const std::uint64_t seed : testing::Seeds(60)) {
    CAPTURE(seed);
    const CollectiveWorld::Options options = random_world(seed);
    CollectiveWorld world(options);
    CHECK(world.run([&](int rank) {
      KnownFacts& known = facts_of(world.portal(rank).host(), world.communicator(rank));
      const StandingFacts& standing = known.of_blocking();
      CHECK(standing.facts.crowded == options.crowded);
      CHECK(standing.facts.ranks == options.ranks);
      CHECK(&facts_of(world.portal(rank).host(), world.communicator(rank)) == &known);
      CHECK(world.communicator(rank).collective_sequence == 0);
    }));
  }
}

TEST_CASE("any sequence of operations, with any lengths and placement, gives the right results") {
  constexpr int kOperations = 8;
  for (const std::uint64_t seed : testing::Seeds(120)) {
    CAPTURE(seed);
    const CollectiveWorld::Options options = random_world(seed);
    CollectiveWorld world(options);
    CHECK(world.run([&](int rank) {
      std::mt19937_64 random(seed);  // the same on every rank
      for (int call = 0; call < kOperations; ++call) {
        const std::uint64_t operation = random() % 4;
        const int root = static_cast<int>(random() % static_cast<std::uint64_t>(options.ranks));
        const std::size_t count = random() % 8 == 0 ? 3000 : random() % 100;
        std::vector<std::uint64_t> data(count, static_cast<std::uint64_t>(rank + 1));
        auto* const bytes = reinterpret_cast<std::byte*>(data.data());
        const Reduction reduction{bytes, count, sizeof(std::uint64_t), predefined_combine(MPI_SUM, MPI_UINT64_T)};
        TreePortal& portal = world.portal(rank);
        mpi_adi::Communicator& communicator = world.communicator(rank);
        const auto all = static_cast<std::uint64_t>(options.ranks * (options.ranks + 1) / 2);
        auto expected = static_cast<std::uint64_t>(rank + 1);
        switch (operation) {
          case 0:
            CHECK(perform(portal, communicator, BarrierCall{}) == MPI_SUCCESS);
            break;
          case 1:
            CHECK(perform(portal, communicator, BcastCall{root, portals::Region(bytes, count * 8)}) == MPI_SUCCESS);
            expected = static_cast<std::uint64_t>(root + 1);
            break;
          case 2:
            CHECK(perform(portal, communicator, ReduceCall{root, reduction}) == MPI_SUCCESS);
            if (rank != root) continue;
            expected = all;
            break;
          default:
            CHECK(perform(portal, communicator, AllreduceCall{reduction}) == MPI_SUCCESS);
            expected = all;
        }
        CHECK(data == std::vector<std::uint64_t>(count, expected));
      }
      CHECK(perform(world.portal(rank), world.communicator(rank), BarrierCall{}) == MPI_SUCCESS);
    }));
  }
}

TEST_CASE("requested hybrids of all operations that take one give the right results, with both forms of a plan") {
  for (const std::uint64_t seed : testing::Seeds(60)) {
    CAPTURE(seed);
    std::mt19937_64 drawn(seed);
    const int size = 1 + static_cast<int>(drawn() % 12);
    const std::vector<HybridPlan> plans = plans_of(size, {Method::brief, Method::slices, Method::bucket});
    std::string asked;
    for (const char* const operation : {"bcast", "reduce", "allreduce", "allgather", "reduce_scatter"}) {
      const std::string plan = drawn() % 4 == 0 ? "" : ":" + format_plan(plans[drawn() % plans.size()]);
      asked += std::string(operation) + "=hybrid" + plan + ",";
    }
    CollectiveWorld world({.ranks = size, .seed = seed, .nodes = nodes_of(size, seed), .asked = asked});
    const std::size_t count = seed % 3 == 0 ? 3000 : seed % 100;
    const auto ranks = static_cast<std::size_t>(size);
    CHECK(world.run([&](int rank) {
      TreePortal& portal = world.portal(rank);
      mpi_adi::Communicator& communicator = world.communicator(rank);
      const int root = static_cast<int>(seed % ranks);
      const auto mine = static_cast<std::uint64_t>(rank + 1);
      const auto all = static_cast<std::uint64_t>(size * (size + 1) / 2);
      using Words = std::vector<std::uint64_t>;
      const auto base = [](Words& words) { return reinterpret_cast<std::byte*>(words.data()); };
      const auto reduction = [&](Words& words) {
        return Reduction{base(words), words.size(), 8, predefined_combine(MPI_SUM, MPI_UINT64_T)};
      };
      Words row(count, mine);
      CHECK(perform(portal, communicator, BcastCall{root, portals::Region(base(row), count * 8)}) == MPI_SUCCESS);
      CHECK(row == Words(count, static_cast<std::uint64_t>(root + 1)));
      row.assign(count, mine);
      CHECK(perform(portal, communicator, ReduceCall{root, reduction(row)}) == MPI_SUCCESS);
      if (rank == root) CHECK(row == Words(count, all));
      row.assign(count, mine);
      CHECK(perform(portal, communicator, AllreduceCall{reduction(row)}) == MPI_SUCCESS);
      CHECK(row == Words(count, all));
      Words own(count, mine), blocks(count * ranks);
      CHECK(perform(portal, communicator,
                    AllgatherCall{portals::Region(base(own), count * 8), count * 8, base(blocks)}) == MPI_SUCCESS);
      Words expected;
      for (std::size_t at = 0; at < ranks; ++at) expected.insert(expected.end(), count, at + 1);
      CHECK(blocks == expected);
      std::vector<std::uint64_t> lengths(ranks);
      for (std::size_t at = 0; at < ranks; ++at) lengths[at] = (at * count / 3) * 8;
      std::size_t first = 0, elements = 0;
      for (std::size_t at = 0; at < ranks; ++at) {
        if (static_cast<int>(at) == rank) first = elements;
        elements += lengths[at] / 8;
      }
      row.assign(elements, mine);
      CHECK(perform(portal, communicator, ReduceScatterCall{reduction(row), lengths}) == MPI_SUCCESS);
      const auto block = static_cast<std::size_t>(lengths[static_cast<std::size_t>(rank)] / 8);
      const auto begin = row.begin() + static_cast<std::ptrdiff_t>(first);
      CHECK(std::all_of(begin, begin + static_cast<std::ptrdiff_t>(block),
                        [&](std::uint64_t sum) { return sum == all; }));
    }));
  }
}

// Above the length from which messages are requested, where each length may have an algorithm of its own.
TEST_CASE("members whose lengths have different algorithms get an error, and no member waits for ever") {
  constexpr std::size_t kWords[] = {2'500, 9'000, 40'000, 150'000};
  std::uint64_t differ = 0;
  const testing::Seeds seeds(60);
  for (const std::uint64_t seed : seeds) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    CollectiveWorld::Options options{.ranks = 2 + static_cast<int>(random() % 6), .seed = seed};
    options.crowded = random() % 2 == 0;
    const auto nodes = static_cast<std::uint32_t>(1 + random() % 3);
    for (int rank = 0; rank < options.ranks; ++rank) options.nodes.push_back(static_cast<std::uint32_t>(rank) % nodes);
    const std::uint64_t operation = random() % 4;
    const std::size_t all = random() % std::size(kWords);
    const std::size_t other = (all + 1 + random() % (std::size(kWords) - 1)) % std::size(kWords);
    const int odd = static_cast<int>(random() % static_cast<std::uint64_t>(options.ranks));
    std::vector<Algorithm> chosen(static_cast<std::size_t>(options.ranks));
    int errors = 0;
    CollectiveWorld world(options);
    CHECK(world.run([&](int rank) {
      std::vector<std::uint64_t> data(kWords[rank == odd ? other : all], 1);
      auto* const bytes = reinterpret_cast<std::byte*>(data.data());
      const Reduction reduction{bytes, data.size(), sizeof(std::uint64_t), predefined_combine(MPI_SUM, MPI_UINT64_T)};
      const auto perform_it = [&](const auto& what) {
        TreePortal& portal = world.portal(rank);
        mpi_adi::Communicator& members = world.communicator(rank);
        chosen[static_cast<std::size_t>(rank)] =
            plan_of(what, facts_of(portal.host(), members).of_blocking()).algorithm;
        errors += perform(portal, members, what) == MPI_ERR_TRUNCATE ? 1 : 0;
      };
      switch (operation) {
        case 0:
          return perform_it(BcastCall{0, portals::Region(bytes, data.size() * sizeof(std::uint64_t))});
        case 1:
          return perform_it(ReduceCall{0, reduction});
        case 2:
          return perform_it(AllreduceCall{reduction});
        default:
          return perform_it(ScanCall{ScanKind::inclusive, reduction});
      }
    }));
    CHECK(errors >= 1);
    differ += std::ranges::adjacent_find(chosen, std::not_equal_to<>()) != chosen.end() ? 1 : 0;
  }
  CHECK(differ >= seeds.count() / 6);
}

// The first rank that asks waits, and does not conclude that no rank can be read.
TEST_CASE("whether ranks of a node read each other's memory is determined once a second one has started") {
  for (const std::uint64_t seed : testing::Seeds(10)) {
    CAPTURE(seed);
    CollectiveWorld::Options options;
    options.ranks = 2 + static_cast<int>(seed % 3);
    options.seed = seed;
    options.shares_memory = options.reads = options.late = true;
    CollectiveWorld world(options);
    CHECK(world.run([&](int rank) {
      world.come(rank);
      KnownFacts& known = facts_of(world.portal(rank).host(), world.communicator(rank));
      CHECK_FALSE(known.of_nonblocking().facts.reads);
      CHECK(known.of_blocking().facts.reads);
    }));
  }
}

}  // namespace margay::collectives
