#include "collectives/select/between_groups.hpp"

#include <cstring>
#include <optional>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/vectors.hpp"

namespace margay::collectives {

namespace {

// This rank's position in its own group's tree, rooted at the group's first rank.
TreePosition tree_of_own_group(const TwoGroups& groups, int rank) {
  const auto rank_of = [&](int number) { return groups.mine + number; };
  return of_ranks(spanning_tree(groups.my_size, 0, rank - groups.mine), rank_of);
}

// The two groups name different roots, so notices carry none: `root` is for the trace.
Plan plan_of(Operation operation, std::uint64_t bytes, std::optional<int> root = {}) {
  return {.algorithm = Algorithm::tree,
          .shape = {.operation = operation_number(operation),
                    .algorithm = static_cast<std::uint8_t>(Algorithm::tree),
                    .bytes = bytes},
          .own = {.root = root}};
}

Steps bcast_between(Collective& collective, BcastBetween what) {
  const TwoGroups& groups = what.groups;
  if (what.root == MPI_PROC_NULL) co_return;
  if (what.root == MPI_ROOT) {
    co_await Send(collective, groups.theirs, what.data);
    co_await Flush(collective);
    co_return;
  }
  // The first rank of the receiving group gets the data for its group.
  if (collective.rank() == groups.mine) co_await Receive(collective, groups.theirs + what.root, what.data);
  co_await bcast_along(collective, tree_of_own_group(groups, collective.rank()), what.data);
}

// Reduces the data of this rank's group to the group's first rank.
Steps reduce_own_group(Collective& collective, const TwoGroups& groups, const Reduction& reduction) {
  return reduce_along(collective, tree_of_own_group(groups, collective.rank()), reduction);
}

Steps reduce_between(Collective& collective, ReduceBetween what) {
  const TwoGroups& groups = what.groups;
  const portals::Region data = what.reduction.region();
  if (what.root == MPI_PROC_NULL) co_return;
  if (what.root == MPI_ROOT) {
    co_await Receive(collective, groups.theirs, data);
    co_return;
  }
  co_await reduce_own_group(collective, groups, what.reduction);
  if (collective.rank() == groups.mine) co_await Send(collective, groups.theirs + what.root, data);
  co_await Flush(collective);
}

// Reduces both groups; their first ranks exchange the results, each into its `partial`.
Steps swap_results(Collective& collective, const TwoGroups& groups, const Reduction& reduction) {
  co_await reduce_own_group(collective, groups, reduction);
  if (collective.rank() != groups.mine) co_return;
  const std::uint64_t bytes = reduction.bytes();
  Scratch theirs(collective, bytes);
  co_await Exchange(collective, groups.theirs, reduction.partial, groups.theirs, theirs.base(), bytes);
  co_await Flush(collective);
  if (bytes != 0) std::memcpy(reduction.partial, theirs.base(), bytes);
}

Steps allreduce_between(Collective& collective, AllreduceBetween what) {
  // Both groups reduce at the same time, and only their first ranks exchange a row.
  co_await swap_results(collective, what.groups, what.reduction);
  const portals::Region data = what.reduction.region();
  co_await bcast_along(collective, tree_of_own_group(what.groups, collective.rank()), data);
}

Steps reduce_scatter_between(Collective& collective, ReduceScatterBetween what) {
  const TwoGroups& groups = what.groups;
  co_await swap_results(collective, groups, what.reduction);
  collective.next_phase();
  std::vector<PeerMessage> out, in;
  const portals::Region whole = what.reduction.region();
  std::uint64_t before = 0;
  for (int rank = groups.mine; rank < groups.mine + groups.my_size; ++rank) {
    const std::uint64_t bytes = what.block_lengths[static_cast<std::size_t>(rank - groups.mine)];
    if (rank != groups.mine) {
      if (collective.rank() == groups.mine) out.push_back({rank, whole.slice(before, bytes)});
      if (collective.rank() == rank) in.push_back({groups.mine, whole.slice(before, bytes)});
    }
    before += bytes;
  }
  co_await exchange_directly(collective, out, in);
}

}  // namespace

TwoGroups TwoGroups::of(const mpi_adi::Communicator& inter) {
  // Ranks of the first group keep their numbers in the communicator of both.
  const bool mine_first = inter.both->rank() == inter.rank();
  return {.mine = mine_first ? 0 : inter.peer_count(),
          .my_size = inter.size(),
          .theirs = mine_first ? inter.size() : 0,
          .their_size = inter.peer_count()};
}

Plan BcastBetween::plan(const StandingFacts& /*standing*/) const {
  return plan_of(Operation::bcast, data.bytes(), root);
}

Steps BcastBetween::routine(Collective& collective, const StandingFacts& /*standing*/, Algorithm /*algorithm*/) const {
  return bcast_between(collective, *this);
}

Plan ReduceBetween::plan(const StandingFacts& /*standing*/) const {
  return plan_of(Operation::reduce, reduction.bytes(), root);
}

Steps ReduceBetween::routine(Collective& collective, const StandingFacts& /*standing*/, Algorithm /*algorithm*/) const {
  return reduce_between(collective, *this);
}

Plan AllreduceBetween::plan(const StandingFacts& /*standing*/) const {
  return plan_of(Operation::allreduce, reduction.bytes());
}

Steps AllreduceBetween::routine(Collective& collective, const StandingFacts& /*standing*/,
                                Algorithm /*algorithm*/) const {
  return allreduce_between(collective, *this);
}

Plan ReduceScatterBetween::plan(const StandingFacts& /*standing*/) const {
  return plan_of(Operation::reduce_scatter, reduction.bytes());
}

Steps ReduceScatterBetween::routine(Collective& collective, const StandingFacts& /*standing*/,
                                    Algorithm /*algorithm*/) const {
  return reduce_scatter_between(collective, *this);
}

}  // namespace margay::collectives
