#include "collectives/select/cost.hpp"

#include <algorithm>
#include <vector>

#include "collectives/portal/call_number.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "collectives/select/cost_parts.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

Cost tree_cost(Operation operation, double n, const Facts& facts) {
  const double ranks = facts.ranks;
  switch (operation) {
    case Operation::bcast:
      return tree_out(facts, n);
    case Operation::reduce:
      return tree_in(facts, n);
    case Operation::gather:
      return tree_gather(facts, n);
    case Operation::scatter:
      return tree_scatter(facts, n);
    case Operation::allgather:
      return tree_gather(facts, n) + tree_out(facts, ranks * n, true);
    case Operation::reduce_scatter:
      return tree_in(facts, n) + deal(facts, n / ranks, Dealing::awaited);
    default:
      return tree_in(facts, n) + tree_out(facts, n, true);  // of a barrier nothing
  }
}

Cost nodes_cost(Operation operation, double n, const Facts& facts) {
  const double ranks = facts.ranks;
  switch (operation) {
    case Operation::bcast:
      return nodes_out(facts, n);
    case Operation::reduce:
      return nodes_in(facts, n);
    case Operation::allgather:
      return nodes_out(facts, n) + nodes_out(facts, ranks * n, true);
    case Operation::reduce_scatter:
      return nodes_in(facts, n) + deal(facts, n / ranks, Dealing::awaited);
    default:
      return nodes_in(facts, n) + nodes_out(facts, n);
  }
}

Cost direct_cost(Operation operation, double n, const Facts& facts) {
  const Group all = all_of(facts);
  const double slice = n / facts.ranks;
  switch (operation) {
    case Operation::reduce:
      return combine_slices(all, slice) + deal(facts, slice, Dealing::asks_always);
    case Operation::reduce_scatter:
      return combine_slices(all, slice);
    case Operation::gather:
    case Operation::scatter:
      return deal(facts, n, Dealing::as_long_as_it_is);
    case Operation::allreduce:
      return combine_slices(all, slice) + everybody_to_everybody(all, slice, true);
    default:
      return everybody_to_everybody(all, n, false);
  }
}

double seconds_of(const Load& load, double further, const Rates::Way& way) {
  return load.messages * way.startup + further * way.busy + load.bytes * way.byte;
}

// Inside a node a short body is written to memory that its receiver sees, and read there: it saves nothing against data
// that is shown. A long one is copied once, or by both processors at once.
Rates::Way inside_of(const Load& load, const Rates& rates) {
  Rates::Way way = rates.inside;
  if (load.bytes <= load.messages * static_cast<double>(kHandshakeBytes))
    way.byte = std::max(way.byte, 2 * rates.shared.byte);
  return way;
}

// Of processors: a message's sender and its receiver are busy, and so they are with its bytes.
double work_of(const Load& load, const Rates::Way& way) {
  return 2 * (load.messages * way.busy + load.bytes * way.byte);
}

}  // namespace

Cost cost_of(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  const auto n = static_cast<double>(bytes);
  switch (algorithm) {
    case Algorithm::tree:
      return tree_cost(operation, n, facts);
    case Algorithm::exchange:
      return exchange_cost(operation, n, facts);
    case Algorithm::nodes:
      return nodes_cost(operation, n, facts);
    case Algorithm::direct:
      return direct_cost(operation, n, facts);
    case Algorithm::bucket:
      return bucket_cost(operation, n, facts);
    case Algorithm::hybrid:
      return cost_of_plan(cheapest_plan(operation, bytes, facts, in_order), operation, bytes, facts);
    case Algorithm::shared:
      return shared_cost(operation, n, facts);
    case Algorithm::chain:
      return chain_cost(n, facts);
  }
  return {};
}

HybridPlan cheapest_plan(Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  const std::vector<HybridPlan> plans = hybrid_plans(operation, facts, in_order);
  MARGAY_ASSERT(!plans.empty());
  const HybridPlan* best = nullptr;
  double of_best = 0;
  for (const HybridPlan& plan : plans) {
    const double takes = seconds(cost_of_plan(plan, operation, bytes, facts), facts, facts.rates);
    if (best != nullptr && takes >= of_best) continue;
    best = &plan;
    of_best = takes;
  }
  return *best;
}

// Of steps that wait for each other, and work that is there in all, p processors are done by Brent's bound: a p-th of
// the work, and of the path what they cannot share. Calls that follow each other share all of it, but for one at each
// gate.
double seconds(const Cost& cost, const Facts& facts, const Rates& rates) {
  const Cost::Path& path = cost.path;
  const double longest = seconds_of(path.inside, path.busy_inside, inside_of(path.inside, rates)) +
                         seconds_of(path.between, path.busy_between, rates.between) +
                         path.combined_bytes * rates.combined + path.shared_looks * rates.shared.look +
                         path.shared_bytes * rates.shared.byte;
  if (!facts.crowded) return longest;
  const double processors = std::max(facts.processors > 0 ? facts.processors : facts.ranks / 2.0, 1.0);
  const double work = work_of(cost.all.inside, inside_of(cost.all.inside, rates)) +
                      work_of(cost.all.between, rates.between) + cost.all.combined_bytes * rates.combined +
                      cost.all.shared_looks * rates.shared.look + cost.all.shared_bytes * rates.shared.byte;
  const double turns = cost.turns * std::max(facts.ranks / processors, 1.0) * rates.turn;
  const double waits = longest * (1 - 1 / processors) + turns;
  return work / processors + (cost.one_way ? waits / CallNumber::kGateCalls : waits);
}

}  // namespace margay::collectives
