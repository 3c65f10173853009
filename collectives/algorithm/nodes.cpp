// Two levels: flat inside a node, along the spanning tree between the nodes' leaders.
#include <cstring>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

// Broadcast: along the spanning tree of the nodes' leaders, then from each leader to the ranks of its node. On one node
// it is flat: the root sends to all. Cost on one node of p ranks: α + (p − 1) n β; with leaders, ceil(log2 nodes) (α +
// n β) more. For short data. Where ranks outnumber processors, each is scheduled once for the call, and not once for
// each level of a tree.
Steps bcast_nodes(Collective& collective, const NodeGroups& groups, int root, portals::Region data) {
  const int leader = groups.leader(root);
  if (leader != collective.rank()) {
    co_await Receive(collective, leader, data);
    co_return;
  }
  // Between nodes first, because the other leaders and all ranks of their nodes wait for these messages.
  if (groups.nodes() > 1) co_await bcast_along(collective, groups.leaders_tree(root), data);
  for (const int member : groups.mine()) {
    if (member != leader) co_await Send(collective, member, data);
  }
  co_await Flush(collective);
}

extern constinit const Row<BcastCall> bcast_by_nodes{
    {Algorithm::nodes, in_any_order_between_nodes,
     [](const CallFacts& call) { return nodes_out(call.facts, call.n()); }},
    [](Collective& collective, const Means& means, const BcastCall& call) {
      return bcast_nodes(collective, means.groups, call.root, call.data);
    }};

// Reduction: the ranks of a node send to their leader, and the leaders reduce along the spanning tree. On one node it
// is flat: all send to the root. Cost on one node of p ranks: α + (p − 1)(n β + n γ); with leaders, ceil(log2 nodes) (α
// + n β + n γ) more. For short data. Where ranks outnumber processors, each is scheduled once for the call, and not
// once for each level of a tree.
//
// A node's parts are combined in the order of ranks, so on one node the operation need not be commutative; with several
// it must be.
namespace {

// The leader's part: a table with a row for each rank of the node, which the senders fill. Rows are combined from the
// last to the first: this keeps the order of ranks, and each step leaves its result in the right operand of the next
// step.
Steps collect(Collective& collective, const NodeGroups& groups, Reduction is) {
  const std::uint64_t bytes = is.bytes();
  const std::size_t rows = groups.mine().size();
  if (rows == 1) co_return;
  Scratch table(collective, rows * bytes);
  const auto row = [&](std::size_t at) { return table.base() + at * bytes; };
  ReceiveRows others(collective, groups.mine(), portals::Region(table.base(), rows * bytes), bytes);
  if (bytes != 0) std::memcpy(row(static_cast<std::size_t>(groups.index())), is.partial, bytes);
  co_await others;
  if (bytes == 0 || collective.error_class() != MPI_SUCCESS) co_return;
  std::byte* const result = row(rows - 1);
  for (std::size_t at = rows - 1; at-- > 0;) is.combine(row(at), result, is.count);
  std::memcpy(is.partial, result, bytes);
}

}  // namespace

Steps reduce_nodes(Collective& collective, const NodeGroups& groups, int root, Reduction is) {
  const int leader = groups.leader(root);
  const bool leads = leader == collective.rank();
  if (leads) {
    co_await collect(collective, groups, is);
  } else {
    co_await Send(collective, leader, is.region(), Send::Row{static_cast<std::uint64_t>(groups.index())});
    co_await Flush(collective);
  }
  if (groups.nodes() == 1) co_return;
  // The table's entry accepts any source, so the leaders' messages belong to the second phase, which has other match
  // bits.
  collective.next_phase();
  if (leads) co_await reduce_along(collective, groups.leaders_tree(root), is);
}

extern constinit const Row<ReduceCall> reduce_by_nodes{
    {Algorithm::nodes, short_by_nodes, [](const CallFacts& call) { return nodes_in(call.facts, call.n()); }},
    [](Collective& collective, const Means& means, const ReduceCall& call) {
      return reduce_nodes(collective, means.groups, call.root, call.reduction);
    }};

}  // namespace margay::collectives
