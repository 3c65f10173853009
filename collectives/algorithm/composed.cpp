// Operations that consist of two others, one after the other, along the tree or by nodes. After the first one, one rank
// has the whole result. Cost: the sum of both. The receivers of the second operation send their ready notices while the
// first still runs, so these notices add nothing to the path.
#include <vector>

#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

namespace {

Steps barrier_nodes(Collective& collective, const NodeGroups& groups) {
  co_await reduce_nodes(collective, groups, kTop, {});
  co_await bcast_nodes(collective, groups, kTop, {});
}

// One rank computes the result for all, so every rank gets the same bits.
Steps allreduce_tree(Collective& collective, Reduction is) {
  co_await reduce_tree(collective, kTop, is);
  co_await bcast_tree(collective, kTop, is.region());
}

Steps allreduce_nodes(Collective& collective, const NodeGroups& groups, Reduction is) {
  co_await reduce_nodes(collective, groups, kTop, is);
  co_await bcast_nodes(collective, groups, kTop, is.region());
}

// The top rank sends each rank its block of the result.
Steps deal_result(Collective& collective, ReduceScatterCall call) {
  collective.next_phase();
  std::vector<PeerMessage> out, in;
  const portals::Region whole = call.reduction.region();
  std::uint64_t before = 0;
  for (int rank = 0; rank < collective.size(); ++rank) {
    const std::uint64_t bytes = call.block_bytes(rank);
    if (collective.rank() == kTop && rank != kTop) out.push_back({rank, whole.slice(before, bytes)});
    if (collective.rank() == rank && rank != kTop) in.push_back({kTop, whole.slice(before, bytes)});
    before += bytes;
  }
  co_await exchange_directly(collective, out, in);
}

Steps reduce_scatter_tree(Collective& collective, ReduceScatterCall call) {
  co_await reduce_tree(collective, kTop, call.reduction);
  co_await deal_result(collective, call);
}

Steps reduce_scatter_nodes(Collective& collective, const NodeGroups& groups, ReduceScatterCall call) {
  co_await reduce_nodes(collective, groups, kTop, call.reduction);
  co_await deal_result(collective, call);
}

Steps allgather_tree(Collective& collective, AllgatherCall call) {
  co_await gather_tree(collective, {kTop, call.mine, call.block_bytes, call.all});
  collective.next_phase();
  const auto members = static_cast<std::uint64_t>(collective.size());
  co_await bcast_tree(collective, kTop, portals::Region(call.all, members * call.block_bytes));
}

// An allgather of one node. The first rank's table of received blocks is the result, which it then broadcasts.
Steps allgather_node(Collective& collective, const NodeGroups& groups, AllgatherCall call) {
  const std::uint64_t bytes = call.block_bytes;
  const portals::Region all(call.all, groups.mine().size() * bytes);
  const portals::Region mine = place_own_block(collective, call);
  if (collective.rank() == kTop) {
    co_await ReceiveRows(collective, groups.mine(), all, bytes);
  } else {
    co_await Send(collective, kTop, mine, Send::Row{static_cast<std::uint64_t>(groups.index())});
    co_await Flush(collective);
  }
  collective.next_phase();
  co_await bcast_nodes(collective, groups, kTop, all);
}

Cost dealt(const CallFacts& call) {
  return deal(call.facts, call.n() / call.ranks(), Dealing::awaited);
}

}  // namespace

extern constinit const Row<BarrierCall> barrier_by_nodes{
    {Algorithm::nodes, short_by_nodes,
     [](const CallFacts& call) { return nodes_in(call.facts, 0) + nodes_out(call.facts, 0); }},
    [](Collective& collective, const Means& means, const BarrierCall& /*call*/) {
      return barrier_nodes(collective, means.groups);
    }};
extern constinit const Row<AllreduceCall> allreduce_by_tree{
    {Algorithm::tree, always,
     [](const CallFacts& call) { return tree_in(call.facts, call.n()) + tree_out(call.facts, call.n(), true); }},
    [](Collective& collective, const Means& /*means*/, const AllreduceCall& call) {
      return allreduce_tree(collective, call.reduction);
    }};
extern constinit const Row<AllreduceCall> allreduce_by_nodes{
    {Algorithm::nodes, short_by_nodes,
     [](const CallFacts& call) { return nodes_in(call.facts, call.n()) + nodes_out(call.facts, call.n()); }},
    [](Collective& collective, const Means& means, const AllreduceCall& call) {
      return allreduce_nodes(collective, means.groups, call.reduction);
    }};
extern constinit const Row<ReduceScatterCall> reduce_scatter_by_tree{
    {Algorithm::tree, always, [](const CallFacts& call) { return tree_in(call.facts, call.n()) + dealt(call); }},
    [](Collective& collective, const Means& /*means*/, const ReduceScatterCall& call) {
      return reduce_scatter_tree(collective, call);
    }};
extern constinit const Row<ReduceScatterCall> reduce_scatter_by_nodes{
    {Algorithm::nodes, short_by_nodes,
     [](const CallFacts& call) { return nodes_in(call.facts, call.n()) + dealt(call); }},
    [](Collective& collective, const Means& means, const ReduceScatterCall& call) {
      return reduce_scatter_nodes(collective, means.groups, call);
    }};
extern constinit const Row<AllgatherCall> allgather_by_tree{
    {Algorithm::tree, always,
     [](const CallFacts& call) {
       return tree_gather(call.facts, call.n()) + tree_out(call.facts, call.ranks() * call.n(), true);
     }},
    [](Collective& collective, const Means& /*means*/, const AllgatherCall& call) {
      return allgather_tree(collective, call);
    }};
extern constinit const Row<AllgatherCall> allgather_by_nodes{
    {Algorithm::nodes, [](const CallFacts& call) { return call.facts.nodes == 1 && call.is_short(); },
     [](const CallFacts& call) {
       return nodes_out(call.facts, call.n()) + nodes_out(call.facts, call.ranks() * call.n(), true);
     }},
    [](Collective& collective, const Means& means, const AllgatherCall& call) {
      return allgather_node(collective, means.groups, call);
    }};

}  // namespace margay::collectives
