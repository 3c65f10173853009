// Tests of the choice of algorithm: it has the least cost, is equal on all members, and with the usual rates agrees
// with measurements.
#include "collectives/select/choose.hpp"

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "collectives/algorithm/registry.hpp"
#include "collectives/cost/counts.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::collectives {
namespace {

constexpr Operation kChosen[] = {Operation::bcast,     Operation::reduce,   Operation::allreduce,
                                 Operation::allgather, Operation::alltoall, Operation::reduce_scatter,
                                 Operation::scan,      Operation::exscan};

// `ranks` ranks in equal blocks on `nodes` nodes.
struct Placed {
  int ranks;
  int nodes = 1;
  double processors = 0;  // 0: one for each rank
  bool shared = false;
};

Facts facts_of(const Placed& placed) {
  std::vector<std::uint32_t> nodes;
  for (int rank = 0; rank < placed.ranks; ++rank) {
    nodes.push_back(static_cast<std::uint32_t>(rank * placed.nodes / placed.ranks));
  }
  Facts facts = facts_of_nodes(nodes);
  facts.crowded = placed.processors > 0;
  facts.processors = placed.processors;
  facts.shared = facts.strips = placed.shared;
  return facts;
}

std::vector<Facts> many_facts() {
  std::vector<Facts> all;
  for (const bool shared : {false, true}) {
    for (const int ranks : {2, 4, 8, 16, 64}) {
      all.push_back(facts_of({.ranks = ranks, .shared = shared}));
      if (ranks > 2) all.push_back(facts_of({.ranks = ranks, .processors = 2, .shared = shared}));
    }
  }
  all.push_back(facts_of({.ranks = 8, .nodes = 2}));
  all.push_back(facts_of({.ranks = 8, .nodes = 2, .processors = 2}));
  all.push_back(facts_of({.ranks = 8, .nodes = 8}));
  return all;
}

Algorithm chosen(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order = false) {
  const Algorithm choice = choose(operation, bytes, facts, in_order);
  CHECK_FALSE(name(choice).empty());
  return choice;
}

double takes(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order = false) {
  return seconds(cost_of(algorithm, operation, bytes, facts, in_order), facts, facts.rates);
}

}  // namespace

TEST_CASE("the chosen algorithm can do the call, and none that can costs less at the ends of its length class") {
  for (const Facts& facts : many_facts()) {
    for (const Operation operation : kChosen) {
      for (std::uint64_t bytes = 2 * kHandshakeBytes; bytes <= std::uint64_t{64} << 20; bytes *= 2) {
        for (const bool in_order : {false, true}) {
          const Algorithm best = chosen(operation, bytes, facts, in_order);
          REQUIRE(does(best, operation));
          REQUIRE(can(best, operation, bytes, facts, in_order));
          for (std::size_t at = 0; at < kAlgorithmCount; ++at) {
            const auto other = static_cast<Algorithm>(at);
            if (!does(other, operation) || !can(other, operation, bytes, facts, in_order)) continue;
            // Hybrids have a handicap.
            const double enough = other == Algorithm::hybrid ? 1.11 : 1;
            REQUIRE(takes(best, operation, bytes, facts, in_order) <=
                    takes(other, operation, bytes, facts, in_order) * enough);
          }
        }
      }
    }
  }
}

TEST_CASE("ranks that name different lengths, all sent without a request, choose one algorithm") {
  for (const Facts& facts : many_facts()) {
    for (const Operation operation : kChosen) {
      // An all-to-all posts a block for each member: it fits, or is sent as messages.
      if (operation == Operation::alltoall && facts.shared) continue;
      for (std::uint64_t bytes = 0; bytes <= kHandshakeBytes; bytes += 64) {
        REQUIRE(choose(operation, bytes, facts) == choose(operation, 0, facts));
      }
    }
  }
}

TEST_CASE("longer lengths are judged alike up to the next power of two") {
  CHECK(class_of(0).number == class_of(kHandshakeBytes).number);
  std::size_t last = 0;
  for (std::uint64_t longest = 2 * kHandshakeBytes; longest != 0; longest *= 2) {
    const LengthClass lengths = class_of(longest);
    if (longest <= std::uint64_t{1} << 50) CHECK(lengths.number == last + 1);
    CHECK(lengths.number < kLengthClasses);
    last = lengths.number;
    if (longest > std::uint64_t{1} << 50) continue;
    CHECK(lengths.longest == longest);
    CHECK(lengths.judged_as == longest);
    CHECK(class_of(lengths.shortest).number == lengths.number);
    CHECK(class_of(lengths.shortest - 1).number == lengths.number - 1);
  }
}

TEST_CASE("a remembered choice equals a new one") {
  std::mt19937_64 random(7);
  for (const Facts& facts : many_facts()) {
    Chosen remembered;
    for (int call = 0; call < 500; ++call) {
      const Operation operation = kChosen[random() % std::size(kChosen)];
      const std::uint64_t bytes = random() >> (30 + random() % 30);
      const bool in_order = random() % 2 == 0;
      REQUIRE(remembered.of(operation, bytes, facts, in_order) == choose(operation, bytes, facts, in_order));
    }
  }
}

// The measurements are in bench/performance.md. Other processors and wires have other rates.
TEST_CASE("with the usual rates the choice agrees with measurements: two ranks") {
  const Facts nonblocking = facts_of({.ranks = 2});
  CHECK(chosen(Operation::barrier, 0, nonblocking) == Algorithm::exchange);
  CHECK(chosen(Operation::allreduce, 8, nonblocking) == Algorithm::exchange);
  const Facts blocking = facts_of({.ranks = 2, .shared = true});
  for (const Operation operation : {Operation::barrier, Operation::allreduce, Operation::allgather}) {
    CHECK(chosen(operation, 0, blocking) == Algorithm::shared);
  }
  CHECK(chosen(Operation::scan, 8, nonblocking) == Algorithm::chain);
  for (const Facts& facts : {nonblocking, blocking}) {
    CHECK(chosen(Operation::bcast, 4 << 20, facts) == Algorithm::tree);
    CHECK(chosen(Operation::allreduce, 1 << 16, facts) == Algorithm::direct);
    CHECK(chosen(Operation::allgather, 1 << 20, facts) == Algorithm::exchange);
    CHECK(chosen(Operation::reduce, 1 << 16, facts) == Algorithm::tree);
    CHECK(chosen(Operation::reduce, 1 << 20, facts) == Algorithm::direct);
  }
}

TEST_CASE("with the usual rates the choice agrees with measurements: 4, 8 and 16 ranks on two processors") {
  for (const int ranks : {4, 8, 16}) {
    CAPTURE(ranks);
    Facts facts = facts_of({.ranks = ranks, .processors = 2});
    // A barrier of 4 takes as long by exchange.
    if (ranks > 4) CHECK(chosen(Operation::barrier, 0, facts) == Algorithm::nodes);
    for (const Operation operation :
         {Operation::bcast, Operation::reduce, Operation::allreduce, Operation::allgather, Operation::reduce_scatter}) {
      CHECK(chosen(operation, 0, facts) == Algorithm::nodes);
    }
    CHECK(chosen(Operation::scan, 8, facts) == Algorithm::chain);
    CHECK(chosen(Operation::bcast, 1 << 20, facts) == Algorithm::tree);
    CHECK(chosen(Operation::allreduce, 1 << 20, facts) == Algorithm::direct);
    CHECK(chosen(Operation::allgather, 1 << 20, facts) == Algorithm::direct);
    CHECK(chosen(Operation::scan, 1 << 20, facts) == Algorithm::chain);
    facts.shared = facts.strips = true;
    CHECK(chosen(Operation::barrier, 0, facts) == Algorithm::shared);
    for (const Operation operation : kChosen) {
      CHECK(chosen(operation, 8, facts) == Algorithm::shared);
      if (operation != Operation::alltoall) CHECK(chosen(operation, 1 << 16, facts) == Algorithm::shared);
    }
    CHECK(chosen(Operation::allreduce, 1 << 20, facts) == (ranks > 4 ? Algorithm::shared : Algorithm::direct));
    CHECK(chosen(Operation::alltoall, 1 << 20, facts) == Algorithm::direct);
  }
}

TEST_CASE("with the usual rates the choice agrees with measurements: two nodes of 4 ranks, two processors, loopback") {
  const Facts facts = facts_of({.ranks = 8, .nodes = 2, .processors = 2});
  CHECK(chosen(Operation::allreduce, 8, facts) == Algorithm::nodes);
  CHECK(chosen(Operation::allreduce, 1 << 18, facts) == Algorithm::tree);
  CHECK(chosen(Operation::allreduce, 4 << 20, facts) == Algorithm::hybrid);
  CHECK(chosen(Operation::bcast, 1 << 20, facts) == Algorithm::tree);
  CHECK(chosen(Operation::reduce, 1 << 20, facts) == Algorithm::tree);
}

TEST_CASE("shared memory is used for calls that fit in it") {
  for (const int ranks : {2, 4, 8, 64}) {
    Facts facts = facts_of({.ranks = ranks, .processors = 2, .shared = true});
    facts.strips = false;  // one of many communicators
    const std::uint64_t block = sim::kBarrierPartBytes / static_cast<std::uint64_t>(facts.ranks);
    CHECK(chosen(Operation::alltoall, block, facts) == Algorithm::shared);
    CHECK(chosen(Operation::alltoall, block + 1, facts) == Algorithm::direct);
    for (const Operation operation : {Operation::allreduce, Operation::reduce_scatter}) {
      CHECK(chosen(operation, sim::kBarrierPartBytes, facts) == Algorithm::shared);
      CHECK(chosen(operation, sim::kBarrierPartBytes + 1, facts) != Algorithm::shared);
      CHECK(chosen(operation, 8, facts, true) == Algorithm::shared);
    }
    facts.shared = false;
    CHECK(chosen(Operation::alltoall, 0, facts) == Algorithm::direct);
  }
}

TEST_CASE("other rates lead to another choice") {
  Facts facts = facts_of({.ranks = 16, .nodes = 16});
  facts.rates.between = {.startup = 1e-3, .busy = 1e-4, .byte = 1e-12};
  CHECK(chosen(Operation::bcast, 1 << 20, facts) == Algorithm::tree);
  facts.rates.between = {.startup = 1e-9, .busy = 1e-9, .byte = 1e-9};
  CHECK(chosen(Operation::bcast, 1 << 20, facts) != Algorithm::tree);
  facts.rates.combined = 1;
  CHECK(chosen(Operation::allreduce, 1 << 16, facts) != Algorithm::exchange);
}

// Paper 001, section 3: long means "larger than say 10Kbytes depending on the bandwidth and latency measurements for a
// given architecture and the number of processes participating in the operation".
TEST_CASE("with the Paragon's rates the buckets overtake the trees where the paper says") {
  const auto crossover = [](Operation operation, const Facts& facts) {
    // The number of blocks in the result.
    const auto blocks = static_cast<std::uint64_t>(operation == Operation::allgather ? facts.ranks : 1);
    std::uint64_t bytes = 8;  // of a block
    while (takes(Algorithm::bucket, operation, bytes, facts) > takes(Algorithm::tree, operation, bytes, facts)) {
      bytes += bytes / 16 + 1;
    }
    return bytes * blocks;
  };
  std::uint64_t least = ~std::uint64_t{0}, most = 0;
  for (const Operation operation : {Operation::bcast, Operation::allgather, Operation::allreduce}) {
    std::uint64_t before = 0;
    for (const int ranks : {8, 16, 32, 64}) {
      Facts facts = facts_of({.ranks = ranks, .nodes = ranks});
      facts.rates = paragon_rates();
      const std::uint64_t bytes = crossover(operation, facts);
      CAPTURE(name(operation));
      CAPTURE(ranks);
      CAPTURE(bytes);
      CHECK(bytes > before);  // more ranks have longer rings
      before = bytes;
      least = std::min(least, bytes);
      most = std::max(most, bytes);
    }
  }
  MESSAGE("crossovers from " << least << " to " << most << " bytes");
  CHECK(least < 10'000);
  CHECK(most > 10'000);
  CHECK(most < 300'000);
}

TEST_CASE("a requested algorithm is taken if it can do the call") {
  Facts facts = facts_of({.ranks = 8});
  REQUIRE(parse_requested_algorithms("bcast=bucket,allreduce=bucket,reduce=nodes", facts.requested).ok());
  CHECK(chosen(Operation::bcast, 8, facts) == Algorithm::bucket);
  CHECK(chosen(Operation::bcast, 0, facts) == Algorithm::tree);
  CHECK(chosen(Operation::allreduce, 1 << 20, facts) == Algorithm::bucket);
  CHECK(chosen(Operation::allreduce, 1 << 20, facts, true) != Algorithm::bucket);
  CHECK(chosen(Operation::reduce, 1 << 10, facts) == Algorithm::nodes);
  CHECK(chosen(Operation::reduce, 1 << 20, facts) == Algorithm::direct);
}

TEST_CASE("a requested hybrid follows its plan, if the plan has that number of ranks") {
  const Facts two_nodes = facts_of({.ranks = 8, .nodes = 2});
  constexpr std::array kWithHybrids = {Operation::bcast, Operation::reduce, Operation::allreduce, Operation::allgather,
                                       Operation::reduce_scatter};
  for (const Operation operation : kWithHybrids) {
    const auto asking = [&](const std::string& how, Facts facts) {
      REQUIRE(parse_requested_algorithms(std::string(name(operation)) + "=hybrid" + how, facts.requested).ok());
      return facts;
    };
    using Dimension = HybridPlan::Dimension;
    const Facts mixed = asking(":2sx4", two_nodes);
    CHECK(chosen(operation, 8, mixed) == Algorithm::hybrid);
    CHECK(chosen(operation, 0, mixed) != Algorithm::hybrid);
    const HybridPlan plan = cheapest_plan(operation, 8, mixed, false);
    CHECK(plan.dimensions[0] == Dimension{2, Method::brief});
    CHECK(plan.dimensions[1].length == 4);
    CHECK(plan.ranks() == 8);
    CHECK(cheapest_plan(operation, 8, asking(":2sx4l", two_nodes), false).dimensions[1] ==
          Dimension{4, Method::slices});
    CHECK(chosen(operation, 8, asking(":2x2", two_nodes)) != Algorithm::hybrid);
    CHECK(chosen(operation, 8, asking(":2x8", two_nodes)) != Algorithm::hybrid);
    // Without a plan the hybrid has one dimension along a node's ranks, and one along the nodes.
    const Facts physical = asking("", two_nodes);
    CHECK(chosen(operation, 8, physical) == Algorithm::hybrid);
    CHECK(cheapest_plan(operation, 1 << 20, physical, false).ranks() == 8);
    Facts uneven = two_nodes;
    uneven.even = false;
    CHECK(chosen(operation, 8, asking("", uneven)) != Algorithm::hybrid);
    CHECK(chosen(operation, 8, asking(":2x4", uneven)) == Algorithm::hybrid);
  }
}

TEST_CASE("a hybrid takes a non-commutative operation if its plan keeps the order of ranks") {
  const Facts two_nodes = facts_of({.ranks = 8, .nodes = 2});
  const auto in_order = [](Operation operation, const std::string& how, Facts facts) {
    REQUIRE(parse_requested_algorithms(std::string(name(operation)) + "=hybrid" + how, facts.requested).ok());
    return choose(operation, 8, facts, true) == Algorithm::hybrid;
  };
  for (const Operation operation : {Operation::reduce, Operation::allreduce, Operation::reduce_scatter}) {
    CHECK(in_order(operation, "", two_nodes));
    CHECK(in_order(operation, ":2lx4s", two_nodes) == (operation != Operation::reduce_scatter));
    CHECK_FALSE(in_order(operation, ":2sx4l", two_nodes));
    CHECK_FALSE(in_order(operation, ":2lx4b", two_nodes));
    Facts dealt = two_nodes;
    dealt.by_node = false;
    CHECK_FALSE(in_order(operation, "", dealt));
  }
}

TEST_CASE("an invalid request is an error that lists the valid ones") {
  RequestedAlgorithms asked;
  const auto message_of = [&](std::string_view text) { return parse_requested_algorithms(text, asked).sentence(); };
  CHECK(message_of("").empty());
  CHECK(message_of("bcast=exchange") ==
        "--collective bcast=exchange: invalid algorithm or plan; the values are "
        "bcast=tree|nodes|bucket|hybrid|shared|chain");
  CHECK(message_of("scan=tree") ==
        "--collective scan=tree: invalid algorithm or plan; the values are scan=exchange|shared|chain");
  CHECK(message_of("bcast").find("the values are bcast=tree") != std::string::npos);
  CHECK(message_of("neighbor_alltoall=tree").find("there is a choice for barrier, bcast, reduce, allreduce, gather") !=
        std::string::npos);
  CHECK(message_of("allreduce=bucket:2x4").find("the values are allreduce=tree") != std::string::npos);
  CHECK(message_of("allreduce=hybrid:2y4").find("allreduce=hybrid:2y4: a plan has") != std::string::npos);
  CHECK(message_of("allreduce=tree,brodcast=tree").find("brodcast=tree: invalid operation; there is a choice for") !=
        std::string::npos);
}

}  // namespace margay::collectives
