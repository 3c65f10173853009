#include "collectives/select/perform.hpp"

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/post.hpp"
#include "collectives/portal/shown.hpp"

namespace margay::collectives {

namespace {

static_assert(kOperationCount < kShownOperations);

Algorithm choose(Operation operation, const Reduction& reduction, const StandingFacts& standing) {
  const bool in_order = !reduction.combine.commutative();
  const auto ranks = static_cast<std::uint64_t>(standing.facts.ranks);
  if (standing.facts.strips && reduction.element_bytes > sim::kStripBytes / ranks) [[unlikely]] {
    // Strips are cut between elements: of longer ones there are none.
    Facts facts = standing.facts;
    facts.strips = false;
    return choose(operation, reduction.bytes(), facts, in_order);
  }
  return standing.choose(operation, reduction.bytes(), in_order);
}

HybridPlan plan_of_hybrid(Operation operation, const Reduction& reduction, const StandingFacts& standing) {
  return standing.hybrid_plan(operation, reduction.bytes(), !reduction.combine.commutative());
}

Steps reduce_by(Algorithm algorithm, Collective& collective, const NodeGroups& groups, int root,
                const Reduction& reduction, Team* team) {
  if (algorithm == Algorithm::shared) {
    if (reduction.bytes() <= kPostedBytes) {
      return reduce_posted(collective, *team, root, reduction.partial, reduction.count, reduction.element_bytes,
                           reduction.combine);
    }
    return reduce_to_root_strips(collective, *team, root, reduction.partial, reduction.count, reduction.element_bytes,
                                 reduction.combine);
  }
  if (algorithm == Algorithm::direct) {
    return reduce_direct(collective, root, reduction.partial, reduction.count, reduction.element_bytes,
                         reduction.combine);
  }
  if (algorithm == Algorithm::nodes) {
    return reduce_nodes(collective, groups, root, reduction.partial, reduction.count, reduction.element_bytes,
                        reduction.combine);
  }
  return reduce_tree(collective, root, reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
}

Steps bcast_by(Algorithm algorithm, Collective& collective, const NodeGroups& groups, int root,
               const portals::Region& data, Team* team) {
  if (algorithm == Algorithm::shared) {
    return data.bytes() <= kPostedBytes ? bcast_posted(collective, *team, root, data)
                                        : bcast_strips(collective, *team, root, data);
  }
  if (algorithm == Algorithm::nodes) return bcast_nodes(collective, groups, root, data);
  if (algorithm == Algorithm::bucket) return bcast_bucket(collective, root, data);
  return bcast_tree(collective, root, data);
}

Steps barrier_nodes(Collective& collective, const NodeGroups& groups) {
  co_await reduce_nodes(collective, groups, kTop, nullptr, 0, 0, nullptr);
  co_await bcast_nodes(collective, groups, kTop, {});
}

// One rank's result goes to all: the same bits everywhere.
Steps reduce_and_tell(Collective& collective, Algorithm algorithm, const NodeGroups& groups, Reduction reduction) {
  co_await reduce_by(algorithm, collective, groups, kTop, reduction, nullptr);
  co_await bcast_by(algorithm, collective, groups, kTop, portals::Region(reduction.partial, reduction.bytes()),
                    nullptr);
}

std::vector<Slice> slices_of(const ReduceScatterCall& what, int ranks) {
  std::vector<Slice> slices;
  std::size_t first = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    slices.push_back({first, what.block_bytes(rank) / what.reduction.element_bytes});
    first += slices.back().count;
  }
  return slices;
}

// By slices; or rank 0 has the whole result for a moment.
Steps reduce_and_scatter(Collective& collective, Algorithm algorithm, const StandingFacts& standing,
                         ReduceScatterCall what) {
  const Reduction& reduction = what.reduction;
  if (algorithm == Algorithm::shared) {
    const std::vector<Slice> slices = slices_of(what, collective.size());
    const auto by = standing.posts(reduction.bytes()) ? reduce_scatter_posted : reduce_scatter_shared;
    co_await by(collective, *standing.team, reduction.partial, slices, reduction.element_bytes, reduction.combine);
    co_return;
  }
  if (algorithm == Algorithm::direct) {
    const std::vector<Slice> slices = slices_of(what, collective.size());
    co_await reduce_scatter_direct(collective, reduction.partial, slices, reduction.element_bytes, reduction.combine);
    co_return;
  }
  if (algorithm == Algorithm::bucket) {
    const std::vector<Slice> slices = slices_of(what, collective.size());
    co_await reduce_scatter_bucket(collective, reduction.partial, slices, reduction.element_bytes, reduction.combine);
    co_return;
  }
  if (algorithm == Algorithm::hybrid) {
    const std::vector<Slice> slices = slices_of(what, collective.size());
    co_await reduce_scatter_hybrid(collective, standing.groups,
                                   plan_of_hybrid(Operation::reduce_scatter, reduction, standing), reduction.partial,
                                   slices, reduction.element_bytes, reduction.combine);
    co_return;
  }
  co_await reduce_by(algorithm, collective, standing.groups, kTop, reduction, nullptr);
  collective.next_phase();
  std::vector<PeerMessage> out, in;
  const portals::Region whole(reduction.partial, reduction.bytes());
  std::uint64_t before = 0;
  for (int rank = 0; rank < collective.size(); ++rank) {
    const std::uint64_t bytes = what.block_bytes(rank);
    if (collective.rank() == kTop && rank != kTop) out.push_back({rank, whole.slice(before, bytes)});
    if (collective.rank() == rank && rank != kTop) in.push_back({kTop, whole.slice(before, bytes)});
    before += bytes;
  }
  co_await exchange_directly(collective, out, in);
}

}  // namespace

Plan BarrierCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = standing.choose(Operation::barrier, 0);
  return {algorithm, shape_of(Operation::barrier, algorithm, kTop, 0)};
}

Steps BarrierCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  switch (algorithm) {
    case Algorithm::exchange:
      return barrier_exchange(collective);
    case Algorithm::nodes:
      return barrier_nodes(collective, standing.groups);
    case Algorithm::tree:
    case Algorithm::direct:
    case Algorithm::bucket:
    case Algorithm::hybrid:
    case Algorithm::chain:
      break;
    case Algorithm::shared:
      return standing.posts(0) ? barrier_posted(collective, *standing.team)
                               : barrier_shared(collective, *standing.team);
  }
  return barrier_tree(collective);
}

Plan BcastCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = standing.choose(Operation::bcast, data.bytes());
  return {algorithm, shape_of(Operation::bcast, algorithm, root, data.bytes())};
}

Steps BcastCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  if (algorithm == Algorithm::hybrid) {
    return bcast_hybrid(collective, standing.groups, standing.hybrid_plan(Operation::bcast, data.bytes()), root, data);
  }
  return bcast_by(algorithm, collective, standing.groups, root, data, standing.team);
}

Plan ReduceCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = choose(Operation::reduce, reduction, standing);
  return {algorithm, shape_of(Operation::reduce, algorithm, root, reduction.bytes())};
}

Steps ReduceCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  if (algorithm == Algorithm::hybrid) {
    return reduce_hybrid(collective, standing.groups, plan_of_hybrid(Operation::reduce, reduction, standing), root,
                         reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
  }
  return reduce_by(algorithm, collective, standing.groups, root, reduction, standing.team);
}

Plan AllreduceCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = choose(Operation::allreduce, reduction, standing);
  return {algorithm, shape_of(Operation::allreduce, algorithm, kTop, reduction.bytes())};
}

Steps AllreduceCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  if (algorithm == Algorithm::direct) {
    return allreduce_direct(collective, reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
  }
  if (algorithm == Algorithm::shared && standing.posts(reduction.bytes())) {
    return allreduce_posted(collective, *standing.team, reduction.partial, reduction.count, reduction.element_bytes,
                            reduction.combine);
  }
  if (algorithm == Algorithm::shared) {
    return allreduce_shared(collective, *standing.team, reduction.partial, reduction.count, reduction.element_bytes,
                            reduction.combine);
  }
  if (algorithm == Algorithm::hybrid) {
    return allreduce_hybrid(collective, standing.groups, plan_of_hybrid(Operation::allreduce, reduction, standing),
                            reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
  }
  if (algorithm == Algorithm::bucket) {
    return allreduce_bucket(collective, reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
  }
  if (algorithm != Algorithm::exchange) return reduce_and_tell(collective, algorithm, standing.groups, reduction);
  return allreduce_exchange(collective, reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
}

Plan ScanCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = choose(operation(), reduction, standing);
  return {algorithm, shape_of(operation(), algorithm, kTop, reduction.bytes())};
}

Steps ScanCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  if (algorithm == Algorithm::shared && standing.facts.strips && reduction.bytes() <= kPostedBytes &&
      (standing.facts.crowded || reduction.bytes() > sim::kMeetingPartBytes)) {
    return scan_posted(collective, *standing.team, kind, reduction.partial, reduction.count, reduction.element_bytes,
                       reduction.combine);
  }
  if (algorithm == Algorithm::shared) {
    return scan_shared(collective, *standing.team, kind, reduction.partial, reduction.count, reduction.element_bytes,
                       reduction.combine);
  }
  if (algorithm == Algorithm::chain) {
    return scan_chain(collective, kind, reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
  }
  return scan_exchange(collective, kind, reduction.partial, reduction.count, reduction.element_bytes,
                       reduction.combine);
}

Plan ReduceScatterCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = choose(Operation::reduce_scatter, reduction, standing);
  return {algorithm, shape_of(Operation::reduce_scatter, algorithm, kTop, reduction.bytes())};
}

Steps ReduceScatterCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  return reduce_and_scatter(collective, algorithm, standing, *this);
}

}  // namespace margay::collectives
