// Gathers and allgathers as whole operations (perform.hpp).
#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/post.hpp"
#include "collectives/select/perform.hpp"

namespace margay::collectives {

namespace {

// Where this rank's block has its place in the result.
portals::Region place_own_block(Collective& collective, const AllgatherCall& what) {
  const auto me = static_cast<std::size_t>(collective.rank());
  const portals::Region slot(what.all + me * what.block_bytes, what.block_bytes);
  put_own_block(collective, slot, what.mine);
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
    if (what.mine.bytes() != what.block_bytes) {
      collective.refuse_call();
      co_return;
    }
    const auto by = standing.posts(what.block_bytes) ? allgather_posted : allgather_shared;
    co_await by(collective, *standing.team, what.all, what.block_bytes);
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
  if (algorithm == Algorithm::hybrid) {
    static_cast<void>(place_own_block(collective, what));
    co_await allgather_hybrid(collective, standing.groups, standing.hybrid_plan(Operation::allgather, what.block_bytes),
                              what.all, what.block_bytes);
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

Plan plan_of_blocks(Operation operation, int root, std::uint64_t block_bytes, const StandingFacts& standing) {
  const Algorithm algorithm = standing.choose(operation, block_bytes);
  return {algorithm, shape_of(operation, algorithm, root, block_bytes)};
}

// Each block goes to the root by itself.
Steps gather_blocks(Collective& collective, Team* team, GatherCall what) {
  std::vector<PeerMessage> out, in;
  const portals::Region all(what.all, what.block_bytes * static_cast<std::uint64_t>(collective.size()));
  const auto block = [&](int rank) {
    return all.slice(static_cast<std::uint64_t>(rank) * what.block_bytes, what.block_bytes);
  };
  if (collective.rank() == what.root) {
    put_own_block(collective, block(what.root), what.mine);
    for (int rank = 0; rank < collective.size(); ++rank) {
      if (rank != what.root) in.push_back({rank, block(rank)});
    }
  } else {
    out.push_back({what.root, what.mine});
  }
  co_await exchange(collective, team, out, in);
}

}  // namespace

Plan GatherCall::plan(const StandingFacts& standing) const {
  return plan_of_blocks(Operation::gather, root, block_bytes, standing);
}

Steps GatherCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  if (algorithm == Algorithm::direct) return gather_blocks(collective, nullptr, *this);
  if (algorithm == Algorithm::shared && block_bytes > kPostedBytes) {
    return gather_blocks(collective, standing.team, *this);
  }
  if (algorithm == Algorithm::shared) {
    return gather_posted(collective, *standing.team, root, mine, block_bytes, all);
  }
  return gather_tree(collective, root, mine, block_bytes, all);
}

Plan AllgatherCall::plan(const StandingFacts& standing) const {
  const Algorithm algorithm = standing.choose(Operation::allgather, block_bytes);
  return {algorithm, shape_of(Operation::allgather, algorithm, kTop, block_bytes)};
}

Steps AllgatherCall::text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const {
  return gather_and_tell(collective, algorithm, standing, *this);
}

}  // namespace margay::collectives
