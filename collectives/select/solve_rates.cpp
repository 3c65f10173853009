#include "collectives/select/solve_rates.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "collectives/algorithm/registry.hpp"
#include "collectives/cost/counts.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

namespace {

Facts facts_of(int ranks, int nodes) {
  std::vector<std::uint32_t> node_of_rank(static_cast<std::size_t>(ranks));
  for (std::size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    node_of_rank[rank] = static_cast<std::uint32_t>(rank * static_cast<std::size_t>(nodes) / node_of_rank.size());
  }
  Facts facts = facts_of_nodes(node_of_rank);
  facts.shared = nodes == 1;
  return facts;
}

struct Call {
  Algorithm algorithm;
  Operation operation;
  std::uint64_t bytes;
};

// Computes the rate at which the call takes `took` seconds, with the other rates given. seconds() is linear in each
// rate, so two evaluations suffice. Returns false, with `rate` unchanged, if the result is not a valid rate.
bool solve(const Call& call, const Facts& facts, double took, Rates& rates, double& rate) {
  const Cost cost = cost_of(call.algorithm, call.operation, call.bytes, facts);
  const double known = rate;
  rate = 0;
  const double without = seconds(cost, facts, rates);
  rate = 1;
  const double slope = seconds(cost, facts, rates) - without;
  rate = (took - without) / slope;
  if (slope > 0 && is_rate(rate)) return true;
  rate = known;
  return false;
}

// Solves for a connection's rates. The byte rate comes from two messages of different lengths, for both of which the
// receiver sends a ready notice. So their times differ by the bytes alone.
bool solve_message(const CallTimes::Pair& pair, const Facts& facts, Rates& rates, Rates::Message& message) {
  const Rates::Message usual = message;
  message.byte = (pair.longer - pair.shorter) / static_cast<double>(kTimedLonger - kTimedShorter);
  message.busy = pair.further;
  if (is_rate(message.byte) && is_rate(message.busy) &&
      solve({Algorithm::tree, Operation::bcast, kTimedMessage}, facts, pair.message, rates, message.startup)) {
    // The time for which a rank is busy is a part of the start-up, so it cannot be longer.
    message.busy = std::min(message.busy, message.startup);
    return true;
  }
  message = usual;
  return false;
}

bool solve_shared(const CallTimes::Shared& times, Rates& rates) {
  const Facts facts = facts_of(2, 1);
  const Rates::Memory usual = rates.shared;
  if (solve({Algorithm::shared, Operation::barrier, 0}, facts, times.barrier, rates, rates.shared.poll) &&
      solve({Algorithm::shared, Operation::allreduce, kTimedShared}, facts, times.allreduce, rates,
            rates.shared.byte)) {
    return true;
  }
  rates.shared = usual;
  return false;
}

// Solves for a turn by each of the two barriers, and takes the geometric mean.
bool solve_turn(const CallTimes::Crowd& crowd, Rates& rates) {
  Facts facts = facts_of(crowd.ranks, 1);
  facts.crowded = true;
  facts.processors = crowd.processors;
  Rates by_memory = rates;
  const bool both = solve({Algorithm::nodes, Operation::barrier, 0}, facts, crowd.nodes, rates, rates.turn) &&
                    solve({Algorithm::shared, Operation::barrier, 0}, facts, crowd.shared, by_memory, by_memory.turn);
  if (!both) {
    rates.turn = usual_rates().turn;
    return false;
  }
  rates.turn = std::sqrt(rates.turn * by_memory.turn);
  return true;
}

double two_digits(double value) {
  char text[32];
  const int length = std::snprintf(text, sizeof text, "%.1e", value);
  double rounded = value;
  std::from_chars(text, text + length, rounded);
  return rounded;
}

std::array<double*, 10> all_of(Rates& rates) {
  return {&rates.inside.startup, &rates.inside.busy, &rates.inside.byte, &rates.between.startup, &rates.between.busy,
          &rates.between.byte,   &rates.combined,    &rates.shared.poll, &rates.shared.byte,     &rates.turn};
}

// Usual rates stay exactly as they are.
void round_measured(Rates& rates) {
  Rates usual = usual_rates();
  const std::array<double*, 10> values = all_of(rates);
  const std::array<double*, 10> usual_values = all_of(usual);
  for (std::size_t at = 0; at < values.size(); ++at) {
    if (*values[at] != *usual_values[at]) *values[at] = two_digits(*values[at]);
  }
}

}  // namespace

SolvedRates solve_rates(const CallTimes& times) {
  SolvedRates solved{.rates = usual_rates(), .unmeasured = {}};
  Rates& rates = solved.rates;
  const auto list_unless = [&](bool measured, const char* name) {
    if (!measured) solved.unmeasured.emplace_back(name);
  };
  list_unless(times.inside && solve_message(*times.inside, facts_of(2, 1), rates, rates.inside), "inside");
  list_unless(times.between && solve_message(*times.between, facts_of(2, 2), rates, rates.between), "between");
  // 0 means unmeasured: an invalid rate.
  const double combined = times.row.value_or(0) / static_cast<double>(kTimedRow);
  list_unless(is_rate(combined), "combined");
  if (is_rate(combined)) rates.combined = combined;
  list_unless(times.shared && solve_shared(*times.shared, rates), "shared");
  list_unless(times.crowd && solve_turn(*times.crowd, rates), "turn");
  round_measured(rates);
  return solved;
}

}  // namespace margay::collectives
