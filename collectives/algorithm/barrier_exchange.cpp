// Barrier by dissemination: in round k each rank tells the one 2^k above it, and hears from the one 2^k below; after
// the last round each has heard of all. Cost: ceil(log2 p) α, half of in and out along a tree, and p messages in each
// round: for ranks that have a processor each.
#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

Steps barrier_exchange(Collective& collective) {
  const int size = collective.size();
  const int rank = collective.rank();
  for (int distance = 1; distance < size; distance *= 2) {
    const int above = rank + distance < size ? rank + distance : rank + distance - size;
    const int below = rank >= distance ? rank - distance : rank - distance + size;
    co_await Exchange(collective, above, nullptr, below, nullptr, 0);
  }
}

namespace {

Cost dissemination(const Ask& ask) {
  const Facts& facts = ask.facts;
  Cost cost;
  if (facts.ranks == 1) return cost;
  const double rounds = rounds_of(facts.ranks);
  const Crossing& between = facts.crossings.rounds;
  add_sent(cost, {rounds * facts.ranks, between.messages}, {});
  add_path(cost, {rounds, static_cast<double>(between.steps)}, {});
  return cost;
}

}  // namespace

extern constinit const Row<BarrierCall> barrier_by_exchange{
    {Algorithm::exchange, always, dissemination},
    [](Collective& collective, const Means& /*means*/, const BarrierCall& /*call*/) {
      return barrier_exchange(collective);
    }};

}  // namespace margay::collectives
