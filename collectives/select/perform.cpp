#include "collectives/select/perform.hpp"

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/meet.hpp"

namespace margay::collectives {

namespace {

static_assert(kOperationCount < kMeetingOperations);

constexpr int kTop = 0;  // the root of operations that have none

Shape shape_of(Operation operation, Algorithm algorithm, int root, std::uint64_t bytes) {
  return {.operation = operation_number(operation),
          .algorithm = static_cast<std::uint8_t>(algorithm),
          .root = static_cast<std::uint16_t>(root),
          .bytes = bytes};
}

Algorithm choose(Operation operation, const Reduction& reduction, const StandingFacts& standing) {
  return standing.choose(operation, reduction.bytes(), !reduction.combine.commutative());
}

Steps reduce_by(Algorithm algorithm, Collective& collective, const NodeGroups& groups, int root,
                const Reduction& reduction) {
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
               const portals::Region& data) {
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
  co_await reduce_by(algorithm, collective, groups, kTop, reduction);
  co_await bcast_by(algorithm, collective, groups, kTop, portals::Region(reduction.partial, reduction.bytes()));
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
    co_await reduce_scatter_shared(collective, *standing.team, reduction.partial, slices, reduction.element_bytes,
                                   reduction.combine);
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
  co_await reduce_by(algorithm, collective, standing.groups, kTop, reduction);
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

// Where this rank's block has its place in the result.
portals::Region place_own_block(Collective& collective, const AllgatherCall& what) {
  const auto me = static_cast<std::size_t>(collective.rank());
  const portals::Region slot(what.all + me * what.block_bytes, what.block_bytes);
  if (what.mine.bytes() != what.block_bytes) {
    collective.named_other_bytes();
  } else if (!what.mine.contiguous() || what.mine.single().base != slot.single().base) {
    portals::copy(slot, what.mine);
  }
  return slot;
}

// Each block goes to everybody else by itself, or round the ring.
Steps allgather_blocks(Collective& collective, Algorithm algorithm, AllgatherCall what) {
  static_cast<void>(place_own_block(collective, what));
  std::vector<Slice> slices;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(collective.size()); ++rank) slices.push_back({rank, 1});
  if (algorithm == Algorithm::direct) {
    co_await allgather_slices(collective, what.all, slices, what.block_bytes);
    co_return;
  }
  for (Slice& slice : slices) slice = {slice.first * what.block_bytes, what.block_bytes};
  const portals::Region row(what.all, slices.size() * what.block_bytes);
  co_await collect_bucket(collective, row, slices, 1, kNobody);
}

// Two ranks.
Steps swap_blocks(Collective& collective, AllgatherCall what) {
  const int other = 1 - collective.rank();
  const portals::Region mine = place_own_block(collective, what);
  std::byte* const theirs = what.all + static_cast<std::uint64_t>(other) * what.block_bytes;
  co_await Exchange(collective, other, mine.single().base, other, theirs, what.block_bytes);
  co_await Flush(collective);
}

// Of one node, whose first rank has a table for what all have: the result.
Steps allgather_node(Collective& collective, const NodeGroups& groups, AllgatherCall what) {
  const std::uint64_t bytes = what.block_bytes;
  const portals::Region all(what.all, groups.mine().size() * bytes);
  const portals::Region mine = place_own_block(collective, what);
  if (collective.rank() == kTop) {
    co_await ReceiveRows(collective, groups.mine(), all, bytes);
  } else {
    co_await Send(collective, kTop, mine, Send::Row{static_cast<std::uint64_t>(groups.index())});
    co_await Flush(collective);
  }
  collective.next_phase();
  co_await bcast_nodes(collective, groups, kTop, all);
}

Steps gather_and_tell(Collective& collective, Algorithm algorithm, const StandingFacts& standing, AllgatherCall what) {
  if (algorithm == Algorithm::shared) {
    static_cast<void>(place_own_block(collective, what));
    co_await allgather_shared(collective, *standing.team, what.all, what.block_bytes);
    co_return;
  }
  if (algorithm == Algorithm::nodes) {
    co_await allgather_node(collective, standing.groups, what);
    co_return;
  }
  if (algorithm == Algorithm::exchange) {
    co_await swap_blocks(collective, what);
    co_return;
  }
  if (algorithm == Algorithm::direct || algorithm == Algorithm::bucket) {
    co_await allgather_blocks(collective, algorithm, what);
    co_return;
  }
  co_await gather_tree(collective, kTop, what.mine, what.block_bytes, what.all);
  collective.next_phase();
  const auto members = static_cast<std::uint64_t>(collective.size());
  co_await bcast_tree(collective, kTop, portals::Region(what.all, members * what.block_bytes));
}

Plan plan_of_blocks(Operation operation, int root, std::uint64_t block_bytes) {
  return {.shape = shape_of(operation, Algorithm::tree, root, block_bytes)};
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
      return barrier_shared(collective, *standing.team);
  }
  return barrier_tree(collective);
}

Plan BcastCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = standing.choose(Operation::bcast, data.bytes());
  return {algorithm, shape_of(Operation::bcast, algorithm, root, data.bytes())};
}

Steps BcastCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  return bcast_by(algorithm, collective, standing.groups, root, data);
}

Plan ReduceCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = choose(Operation::reduce, reduction, standing);
  return {algorithm, shape_of(Operation::reduce, algorithm, root, reduction.bytes())};
}

Steps ReduceCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  return reduce_by(algorithm, collective, standing.groups, root, reduction);
}

Plan AllreduceCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = choose(Operation::allreduce, reduction, standing);
  return {algorithm, shape_of(Operation::allreduce, algorithm, kTop, reduction.bytes())};
}

Steps AllreduceCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  if (algorithm == Algorithm::direct) {
    return allreduce_direct(collective, reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
  }
  if (algorithm == Algorithm::shared) {
    return allreduce_shared(collective, *standing.team, reduction.partial, reduction.count, reduction.element_bytes,
                            reduction.combine);
  }
  if (algorithm == Algorithm::hybrid) {
    return allreduce_hybrid(collective, standing.groups, reduction.partial, reduction.count, reduction.element_bytes,
                            reduction.combine);
  }
  if (algorithm == Algorithm::bucket) {
    return allreduce_bucket(collective, reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
  }
  if (algorithm != Algorithm::exchange) return reduce_and_tell(collective, algorithm, standing.groups, reduction);
  return allreduce_exchange(collective, reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
}

Plan GatherCall::plan(const StandingFacts& /*standing*/) const {
  return plan_of_blocks(Operation::gather, root, block_bytes);
}

Steps GatherCall::text(Collective& collective, const StandingFacts& /*standing*/, Algorithm /*algorithm*/) const {
  return gather_tree(collective, root, mine, block_bytes, all);
}

Plan ScatterCall::plan(const StandingFacts& /*standing*/) const {
  return plan_of_blocks(Operation::scatter, root, block_bytes);
}

Steps ScatterCall::text(Collective& collective, const StandingFacts& /*standing*/, Algorithm /*algorithm*/) const {
  return scatter_tree(collective, root, all, block_bytes, mine);
}

Plan ScanCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = choose(operation(), reduction, standing);
  return {algorithm, shape_of(operation(), algorithm, kTop, reduction.bytes())};
}

Steps ScanCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
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

Plan AllgatherCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = standing.choose(Operation::allgather, block_bytes);
  return {algorithm, shape_of(Operation::allgather, algorithm, kTop, block_bytes)};
}

Steps AllgatherCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  return gather_and_tell(collective, algorithm, standing, *this);
}

}  // namespace margay::collectives
