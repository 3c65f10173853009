// Tests that rates are recovered from times computed with them.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "collectives/algorithm/registry.hpp"
#include "collectives/cost/counts.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/select/choose.hpp"
#include "collectives/select/solve_rates.hpp"

namespace margay::collectives {
namespace {

Facts of_ranks(const std::vector<std::uint32_t>& nodes, const Rates& rates) {
  Facts facts = facts_of_nodes(nodes);
  facts.shared = facts.nodes == 1;
  facts.rates = rates;
  return facts;
}

double time_of_call(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts) {
  return seconds(cost_of(algorithm, operation, bytes, facts), facts, facts.rates);
}

CallTimes::Pair pair_of(const Facts& facts, double further) {
  return {.message = time_of_call(Algorithm::tree, Operation::bcast, kTimedMessage, facts),
          .shorter = time_of_call(Algorithm::tree, Operation::bcast, kTimedShorter, facts),
          .longer = time_of_call(Algorithm::tree, Operation::bcast, kTimedLonger, facts),
          .further = further};
}

// The times that a machine with these rates would have.
CallTimes times_of(const Rates& rates) {
  const Facts inside = of_ranks({0, 0}, rates);
  Facts crowd = of_ranks({0, 0, 0, 0, 0, 0, 0, 0}, rates);
  crowd.crowded = true;
  crowd.processors = 2;
  return {.inside = pair_of(inside, rates.inside.busy),
          .between = pair_of(of_ranks({0, 1}, rates), rates.between.busy),
          .row = rates.combined * static_cast<double>(kTimedRow),
          .shared = CallTimes::Shared{.barrier = time_of_call(Algorithm::shared, Operation::barrier, 0, inside),
                                      .allreduce =
                                          time_of_call(Algorithm::shared, Operation::allreduce, kTimedShared, inside)},
          .crowd = CallTimes::Crowd{.ranks = 8,
                                    .processors = 2,
                                    .nodes = time_of_call(Algorithm::nodes, Operation::barrier, 0, crowd),
                                    .shared = time_of_call(Algorithm::shared, Operation::barrier, 0, crowd)}};
}

constexpr Rates kMade{.inside = {.startup = 7e-7, .busy = 2.5e-7, .byte = 3e-10},
                      .between = {.startup = 9e-6, .busy = 1.5e-6, .byte = 8e-10},
                      .combined = 5e-11,
                      .shared = {.poll = 2.5e-7, .byte = 4e-10},
                      .turn = 3.5e-6};

}  // namespace

TEST_CASE("times of a machine with given rates are solved for these") {
  const SolvedRates solved = solve_rates(times_of(kMade));
  CHECK(solved.unmeasured.empty());
  CHECK(to_text(solved.rates) == to_text(kMade));
}

TEST_CASE("rates have two digits, so noise does not show") {
  Rates noisy = kMade;
  noisy.between.startup *= 1.004;
  noisy.combined *= 0.997;
  CHECK(solve_rates(times_of(noisy)).rates == kMade);
}

TEST_CASE("a rate that was not measured, or whose measurement is inconsistent, is the usual value and is named") {
  SolvedRates solved = solve_rates({});
  CHECK(solved.rates == usual_rates());
  CHECK(solved.unmeasured == std::vector<std::string>{"inside", "between", "combined", "shared", "turn"});

  CallTimes times = times_of(kMade);
  times.between->longer = times.between->shorter / 2;  // a longer one that is faster
  times.crowd->shared = 0;
  solved = solve_rates(times);
  CHECK(solved.unmeasured == std::vector<std::string>{"between", "turn"});
  CHECK(solved.rates.between == usual_rates().between);
  CHECK(solved.rates.turn == usual_rates().turn);
  CHECK(solved.rates.inside == kMade.inside);
}

TEST_CASE("a job's rates are the user's name or text; anything else is reported, and replaced by the usual ones") {
  Rates rates = kMade;
  REQUIRE(parse_requested_rates("", rates).ok());
  CHECK(rates == usual_rates());
  REQUIRE(parse_requested_rates("paragon", rates).ok());
  CHECK(rates == paragon_rates());
  REQUIRE(parse_requested_rates(to_text(kMade), rates).ok());
  CHECK(rates == kMade);
  CHECK(parse_requested_rates("paragonn", rates).sentence().find("usual, paragon") != std::string::npos);
  CHECK(parse_requested_rates("turn=0", rates).sentence().find("turn") != std::string::npos);
  CHECK(rates == kMade);
  CHECK(rates_of_job("turn=0") == usual_rates());
  CHECK(rates_of_job("paragon") == paragon_rates());
}

}  // namespace margay::collectives
