// The minimum spanning tree (paper 001, section 3.1): each rank is a node of the tree. No path from the root has more
// than ceil(log2 p) edges, and no rank has more than ceil(log2 p) children.
#include <cstring>
#include <deque>
#include <memory>
#include <utility>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/topology/members.hpp"

namespace margay::collectives {

// Barrier: in along the spanning tree, out along it. Cost: 2 ceil(log2 p) α.
Steps barrier_tree(Collective& collective) {
  const TreePosition position = spanning_tree(collective.size(), 0, collective.rank());
  for (auto child = position.children.rbegin(); child != position.children.rend(); ++child) {
    co_await Receive(collective, child->rank, {});
  }
  if (position.parent >= 0) {
    // The receive exists before this rank's message goes up, so that the answer finds its block.
    Receive release(collective, position.parent, {});
    co_await Send(collective, position.parent, {});
    co_await release;
  }
  for (const TreePosition::Child& child : position.children) co_await Send(collective, child.rank, {});
}

extern constinit const Row<BarrierCall> barrier_by_tree{
    {Algorithm::tree, always,
     [](const CallFacts& call) { return tree_in(call.facts, 0) + tree_out(call.facts, 0, true); }},
    [](Collective& collective, const Means& /*means*/, const BarrierCall& /*call*/) {
      return barrier_tree(collective);
    }};

// Broadcast along the minimum spanning tree (paper 001, section 3.1). Cost: ceil(log2 p) (α + n β).
Steps bcast_along(Collective& collective, TreePosition position, portals::Region data) {
  // Each rank waits for its parent only, so a late rank delays its own subtree and no other.
  if (position.parent >= 0) co_await Receive(collective, position.parent, data);
  // Largest subtree first: its ranks have the longest way still to go.
  for (const TreePosition::Child& child : position.children) co_await Send(collective, child.rank, data);
  co_await Flush(collective);
}

Steps bcast_tree(Collective& collective, int root, portals::Region data) {
  return bcast_along(collective, spanning_tree(collective.size(), root, collective.rank()), std::move(data));
}

extern constinit const Row<BcastCall> bcast_by_tree{
    {Algorithm::tree, always, [](const CallFacts& call) { return tree_out(call.facts, call.n()); }},
    [](Collective& collective, const Means& /*means*/, const BcastCall& call) {
      return bcast_tree(collective, call.root, call.data);
    }};

// Reduction along the minimum spanning tree: each rank combines its children's parts with its own and sends the
// result up. Cost: ceil(log2 p) (α + n β + n γ).
//
// An operation that does not commute is combined in the order of ranks: a child's subtree is the range of ranks
// directly below or above those combined before it.
Steps reduce_along(Collective& collective, TreePosition position, Reduction is) {
  const std::uint64_t bytes = is.bytes();
  Scratch incoming(collective, position.children.empty() ? 0 : bytes);
  std::byte* mine = is.partial;
  std::byte* theirs = incoming.base();
  // Smallest subtree first: it is ready first, and its ranks are next to those that are combined already.
  for (auto child = position.children.rbegin(); child != position.children.rend(); ++child) {
    co_await Receive(collective, child->rank, portals::Region(theirs, bytes));
    if (bytes == 0 || collective.error_class() != MPI_SUCCESS) continue;
    // `combine` leaves the result in its right operand, the higher ranks' part.
    if (!is.combine.commutative() && child->first > position.self) std::swap(mine, theirs);
    is.combine(theirs, mine, is.count);
  }
  if (position.parent >= 0) {
    co_await Send(collective, position.parent, portals::Region(mine, bytes));
    co_await Flush(collective);
  } else if (mine != is.partial) {
    std::memcpy(is.partial, mine, bytes);
  }
}

Steps reduce_tree(Collective& collective, int root, Reduction is) {
  return reduce_along(collective, spanning_tree(collective.size(), root, collective.rank()), is);
}

extern constinit const Row<ReduceCall> reduce_by_tree{
    {Algorithm::tree, always, [](const CallFacts& call) { return tree_in(call.facts, call.n()); }},
    [](Collective& collective, const Means& /*means*/, const ReduceCall& call) {
      return reduce_tree(collective, call.root, call.reduction);
    }};

// Gather along the minimum spanning tree: a subtree is a range of ranks, so each inner rank's part is one contiguous
// run. Cost: ceil(log2 p) α + (p - 1)/p n β, n the whole result.
Steps gather_tree(Collective& collective, GatherCall call) {
  const TreePosition position = spanning_tree(collective.size(), call.root, collective.rank());
  const std::uint64_t block_bytes = call.block_bytes;
  if (position.children.empty() && position.parent >= 0) {
    co_await Send(collective, position.parent, call.mine);
    co_await Flush(collective);
    co_return;
  }
  // The root's run is the whole result. An inner rank's is that of its subtree, in temporary memory.
  KeptMemory::Run own;
  std::byte* run = call.all;
  const int members = position.last - position.first + 1;
  const auto ranks = static_cast<std::uint64_t>(members);
  if (position.parent >= 0) {
    own = collective.portal().take_memory(ranks * block_bytes);
    run = own.get();
  }
  const auto at = [&](int rank) { return run + static_cast<std::uint64_t>(rank - position.first) * block_bytes; };
  // All blocks are posted at once, so children need not wait for each other. A deque keeps their addresses.
  std::deque<Receive> awaited;
  for (const TreePosition::Child& child : position.children) {
    const auto bytes = static_cast<std::uint64_t>(child.last - child.first + 1) * block_bytes;
    awaited.emplace_back(collective, child.rank, portals::Region(at(child.first), bytes));
  }
  const portals::Region slot(at(collective.rank()), block_bytes);
  put_own_block(collective, slot, call.mine);
  for (Receive& part : awaited) co_await part;
  if (position.parent >= 0) {
    co_await Send(collective, position.parent, portals::Region(run, ranks * block_bytes));
    co_await Flush(collective);
  }
}

extern constinit const Row<GatherCall> gather_by_tree{
    {Algorithm::tree, always, [](const CallFacts& call) { return tree_gather(call.facts, call.n()); }},
    [](Collective& collective, const Means& /*means*/, const GatherCall& call) {
      return gather_tree(collective, call);
    }};

// Scatter along the minimum spanning tree (paper 001, section 3.1): the root sends each child the blocks of its
// subtree, which are one contiguous run, and each child goes on. Cost: ceil(log2 p) α + (p - 1)/p n β, n all blocks; an
// inner rank's run is moved once more.
Steps scatter_tree(Collective& collective, int root, std::byte* all, std::uint64_t block_bytes, portals::Region mine) {
  const TreePosition position = spanning_tree(collective.size(), root, collective.rank());
  if (position.children.empty() && position.parent >= 0) {
    co_await Receive(collective, position.parent, mine);
    co_return;
  }
  KeptMemory::Run own;
  std::byte* run = all;
  if (position.parent >= 0) {
    const auto bytes = static_cast<std::uint64_t>(position.last - position.first + 1) * block_bytes;
    own = collective.portal().take_memory(bytes);
    run = own.get();
    co_await Receive(collective, position.parent, portals::Region(run, bytes));
  }
  const auto at = [&](int rank) { return run + static_cast<std::uint64_t>(rank - position.first) * block_bytes; };
  for (const TreePosition::Child& child : position.children) {
    const auto bytes = static_cast<std::uint64_t>(child.last - child.first + 1) * block_bytes;
    co_await Send(collective, child.rank, portals::Region(at(child.first), bytes));
  }
  const portals::Region block(at(collective.rank()), block_bytes);
  put_own_block(collective, mine, block);
  co_await Flush(collective);
}

namespace {

// The tree needs all blocks in one run.
Steps scatter_run(Collective& collective, ScatterCall call) {
  KeptMemory::Run own;
  std::byte* run = nullptr;
  if (call.all.contiguous()) {
    run = call.all.single().base;
  } else {
    own = collective.portal().take_memory(call.all.bytes());
    run = own.get();
    portals::copy(portals::Region(run, call.all.bytes()), call.all);
  }
  co_await scatter_tree(collective, call.root, run, call.block_bytes, call.mine);
}

}  // namespace

extern constinit const Row<ScatterCall> scatter_by_tree{
    {Algorithm::tree, always, [](const CallFacts& call) { return tree_scatter(call.facts, call.n()); }},
    [](Collective& collective, const Means& /*means*/, const ScatterCall& call) {
      return scatter_run(collective, call);
    }};

}  // namespace margay::collectives
