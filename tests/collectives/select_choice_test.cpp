// The choice of algorithm: what each reason stands for.
#include "collectives/select/choice.hpp"

#include <array>
#include <string>

#include <doctest/doctest.h>

#include "collectives/portal/tree_portal.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::collectives {
namespace {

constexpr Facts kPair{.ranks = 2, .nodes = 1, .most_on_node = 2, .crowded = false};
constexpr Facts kRoomy{.ranks = 8, .nodes = 1, .most_on_node = 8, .crowded = false};
constexpr Facts kCrowded{.ranks = 8, .nodes = 1, .most_on_node = 8, .crowded = true};
constexpr Facts kTwoNodes{.ranks = 8, .nodes = 2, .most_on_node = 4, .crowded = false};

Algorithm chosen(Operation operation, std::uint64_t bytes, const Facts& facts) {
  const Choice choice = select(operation, bytes, facts);
  CHECK_FALSE(choice.reason.empty());
  CHECK_FALSE(name(choice.algorithm).empty());
  return choice.algorithm;
}

}  // namespace

TEST_CASE("two ranks exchange, crowded or not") {
  for (const bool crowded : {false, true}) {
    Facts facts = kPair;
    facts.crowded = crowded;
    CHECK(chosen(Operation::barrier, 0, facts) == Algorithm::exchange);
    CHECK(chosen(Operation::allreduce, 8, facts) == Algorithm::exchange);
  }
}

TEST_CASE("a processor for each rank: what all get is exchanged, what one gets goes along a tree") {
  CHECK(chosen(Operation::barrier, 0, kRoomy) == Algorithm::exchange);
  CHECK(chosen(Operation::allreduce, 8, kRoomy) == Algorithm::exchange);
  CHECK(chosen(Operation::bcast, 8, kRoomy) == Algorithm::tree);
  CHECK(chosen(Operation::reduce, 8, kRoomy) == Algorithm::tree);
}

TEST_CASE("more ranks than processors: flat, while the data is short") {
  for (const Operation operation : {Operation::barrier, Operation::bcast, Operation::reduce, Operation::allreduce}) {
    CHECK(chosen(operation, 8, kCrowded) == Algorithm::nodes);
  }
}

TEST_CASE("several nodes with several ranks: two levels") {
  for (const Operation operation : {Operation::barrier, Operation::bcast, Operation::reduce, Operation::allreduce}) {
    CHECK(chosen(operation, 8, kTwoNodes) == Algorithm::nodes);
  }
  Facts large = kTwoNodes;
  large.most_on_node = 64;
  CHECK(chosen(Operation::barrier, 0, large) == Algorithm::exchange);
}

TEST_CASE("ranks that name different lengths, all sent without asking, meet in one algorithm") {
  for (const Operation operation : {Operation::bcast, Operation::reduce, Operation::allreduce}) {
    for (const Facts& facts : {kPair, kRoomy, kCrowded, kTwoNodes}) {
      for (std::uint64_t bytes = 0; bytes <= kHandshakeBytes; bytes += 64) {
        REQUIRE(chosen(operation, bytes, facts) == chosen(operation, 0, facts));
      }
    }
  }
}

TEST_CASE("memory that all members see is taken for what is shown in it, by calls that wait in place") {
  for (Facts facts : {kPair, kRoomy, kCrowded}) {
    facts.shared = true;
    CHECK(chosen(Operation::barrier, 0, facts) == Algorithm::shared);
    for (const Operation operation : {Operation::allreduce, Operation::allgather, Operation::reduce_scatter}) {
      CHECK(chosen(operation, sim::kMeetingPartBytes, facts) == Algorithm::shared);
      CHECK(chosen(operation, sim::kMeetingPartBytes + 1, facts) != Algorithm::shared);
      CHECK(select(operation, 8, facts, true).algorithm == Algorithm::shared);
    }
    const std::uint64_t block = sim::kMeetingPartBytes / static_cast<std::uint64_t>(facts.ranks);
    CHECK(chosen(Operation::alltoall, block, facts) == Algorithm::shared);
    facts.shared = false;
    for (const std::uint64_t bytes : {std::uint64_t{0}, block}) {
      CHECK(chosen(Operation::alltoall, bytes, facts) == Algorithm::direct);
    }
    facts.shared = true;
    CHECK(chosen(Operation::alltoall, block + 1, facts) == Algorithm::direct);
    for (const Operation operation : {Operation::bcast, Operation::reduce}) {
      CHECK(chosen(operation, 8, facts) != Algorithm::shared);
    }
  }
}

TEST_CASE("a scan goes along the chain but where its levels cost more than its rounds") {
  for (const Operation operation : {Operation::scan, Operation::exscan}) {
    for (Facts facts : {kPair, kRoomy, kCrowded, kTwoNodes}) {
      CHECK(chosen(operation, kHandshakeBytes + 1, facts) == Algorithm::chain);
      facts.shared = facts.nodes == 1;
      const bool levels = facts.ranks > 2 && !facts.crowded;
      const Algorithm other = facts.shared ? Algorithm::shared : Algorithm::exchange;
      CHECK(chosen(operation, 8, facts) == (levels ? other : Algorithm::chain));
      CHECK(select(operation, 1 << 20, facts, true).algorithm == Algorithm::chain);
    }
  }
}

TEST_CASE("what is asked for by name is taken where it can do the call") {
  Facts facts = kRoomy;
  REQUIRE(parse_asked_for("bcast=bucket,allreduce=bucket,reduce=nodes", facts.asked_for).ok());
  CHECK(chosen(Operation::bcast, 8, facts) == Algorithm::bucket);
  CHECK(chosen(Operation::bcast, 0, facts) == Algorithm::tree);
  CHECK(chosen(Operation::allreduce, 1 << 20, facts) == Algorithm::bucket);
  CHECK(select(Operation::allreduce, 1 << 20, facts, true).algorithm == Algorithm::direct);
  CHECK(chosen(Operation::reduce, 1 << 10, facts) == Algorithm::nodes);
  CHECK(chosen(Operation::reduce, 1 << 20, facts) == Algorithm::direct);
}

TEST_CASE("a hybrid that is asked for goes by its plan, where that is of as many ranks") {
  constexpr std::array kWithHybrids = {Operation::bcast, Operation::reduce, Operation::allreduce, Operation::allgather,
                                       Operation::reduce_scatter};
  for (const Operation operation : kWithHybrids) {
    const auto asking = [&](const std::string& how, Facts facts) {
      REQUIRE(parse_asked_for(std::string(name(operation)) + "=hybrid" + how, facts.asked_for).ok());
      return facts;
    };
    using Dimension = HybridPlan::Dimension;
    const Facts mixed = asking(":2sx4", kTwoNodes);
    CHECK(chosen(operation, 8, mixed) == Algorithm::hybrid);
    CHECK(chosen(operation, 0, mixed) != Algorithm::hybrid);
    const std::optional<HybridPlan> plan = hybrid_plan(operation, mixed);
    REQUIRE(plan.has_value());
    CHECK(plan->dimensions[0] == Dimension{2, Way::brief});
    CHECK(plan->dimensions[1] == Dimension{4, Way::slices});
    CHECK(plan->ranks() == 8);
    CHECK(chosen(operation, 8, asking(":2x2", kTwoNodes)) != Algorithm::hybrid);
    CHECK(chosen(operation, 8, asking(":2x8", kTwoNodes)) != Algorithm::hybrid);
    // A node's ranks, and the nodes.
    const Facts physical = asking("", kTwoNodes);
    CHECK(chosen(operation, 8, physical) == Algorithm::hybrid);
    CHECK(hybrid_plan(operation, physical)->dimensions[0] == Dimension{4, Way::slices});
    CHECK(hybrid_plan(operation, physical)->dimensions[1] == Dimension{2, Way::slices});
    Facts uneven = kTwoNodes;
    uneven.even = false;
    CHECK(chosen(operation, 8, asking("", uneven)) != Algorithm::hybrid);
    CHECK(chosen(operation, 8, asking(":2x4", uneven)) == Algorithm::hybrid);
  }
}

TEST_CASE("a hybrid takes an operation that does not commute where its plan keeps the order of ranks") {
  const auto in_order = [](Operation operation, const std::string& how, Facts facts) {
    REQUIRE(parse_asked_for(std::string(name(operation)) + "=hybrid" + how, facts.asked_for).ok());
    return select(operation, 8, facts, true).algorithm == Algorithm::hybrid;
  };
  for (const Operation operation : {Operation::reduce, Operation::allreduce, Operation::reduce_scatter}) {
    CHECK(in_order(operation, "", kTwoNodes));
    CHECK(in_order(operation, ":2lx4s", kTwoNodes) == (operation != Operation::reduce_scatter));
    CHECK_FALSE(in_order(operation, ":2sx4l", kTwoNodes));
    CHECK_FALSE(in_order(operation, ":2lx4b", kTwoNodes));
    Facts dealt = kTwoNodes;
    dealt.by_node = false;
    CHECK_FALSE(in_order(operation, "", dealt));
  }
}

TEST_CASE("what cannot be asked for is an error that says what can") {
  AskedFor asked;
  const auto words = [&](std::string_view text) { return parse_asked_for(text, asked).sentence(); };
  CHECK(words("").empty());
  CHECK(words("bcast=exchange") == "--collective bcast=exchange: it is bcast=tree|nodes|bucket|hybrid|shared");
  CHECK(words("scan=tree") == "--collective scan=tree: it is scan=exchange|shared|chain");
  CHECK(words("bcast").find("it is bcast=tree") != std::string::npos);
  CHECK(words("neighbor_alltoall=tree").find("there is a choice for barrier, bcast, reduce, allreduce, gather") !=
        std::string::npos);
  CHECK(words("allreduce=bucket:2x4").find("it is allreduce=tree") != std::string::npos);
  CHECK(words("allreduce=hybrid:2y4").find("allreduce=hybrid:2y4: a plan is") != std::string::npos);
  CHECK(words("allreduce=tree,brodcast=tree").find("brodcast=tree: there is a choice for") != std::string::npos);
}

TEST_CASE("of long data each rank combines its slice; what is only told keeps the tree") {
  for (const Facts& facts : {kPair, kRoomy, kCrowded, kTwoNodes}) {
    CHECK(chosen(Operation::bcast, 1 << 20, facts) == Algorithm::tree);
    const bool two_dimensions = facts.nodes > 1;
    CHECK(chosen(Operation::allreduce, kHandshakeBytes + 1, facts) ==
          (two_dimensions ? Algorithm::tree : Algorithm::direct));
    CHECK(chosen(Operation::allreduce, 1 << 21, facts) == (two_dimensions ? Algorithm::hybrid : Algorithm::direct));
    CHECK(select(Operation::allreduce, 1 << 21, facts, true).algorithm == chosen(Operation::allreduce, 1 << 21, facts));
    Facts dealt = facts;
    dealt.by_node = false;
    CHECK(select(Operation::allreduce, 1 << 21, dealt, true).algorithm == Algorithm::direct);
    CHECK(chosen(Operation::reduce, 1 << 21, facts) == Algorithm::direct);
  }
  CHECK(chosen(Operation::reduce, 1 << 16, kPair) == Algorithm::tree);
  CHECK(chosen(Operation::reduce, 1 << 16, kRoomy) == Algorithm::direct);
}

}  // namespace margay::collectives
