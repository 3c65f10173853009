// The algorithms of collective operations. A file holds one algorithm for all operations (tree.cpp, exchange.cpp, ...)
// and begins with its method and its cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/algorithm/calls.hpp"
#include "collectives/op/reducer.hpp"
#include "collectives/portal/collective.hpp"
#include "collectives/portal/team.hpp"
#include "collectives/topology/grid.hpp"
#include "collectives/topology/members.hpp"
#include "collectives/topology/node_groups.hpp"

namespace margay::collectives {

Steps barrier_tree(Collective& collective);
Steps barrier_exchange(Collective& collective);

// `data`: the root's is sent, the others' is filled; the same number of bytes everywhere.
Steps bcast_tree(Collective& collective, int root, portals::Region data);
// The same along a tree that is given, of some of the ranks.
Steps bcast_along(Collective& collective, TreePlace place, portals::Region data);
// As bcast_tree.
Steps bcast_nodes(Collective& collective, const NodeGroups& groups, int root, portals::Region data);

// At the root `partial` becomes the result, elsewhere it is used up. `combine` is not called when there are no bytes.
Steps reduce_tree(Collective& collective, int root, Reduction is);
// The same along a tree that is given, of some of the ranks, whose order in its range is kept.
Steps reduce_along(Collective& collective, TreePlace place, Reduction is);
// As reduce_tree. Requires: is.bytes() <= kHandshakeBytes. Over several nodes it has a second phase.
Steps reduce_nodes(Collective& collective, const NodeGroups& groups, int root, Reduction is);

// `partial` becomes the result.
Steps allreduce_exchange(Collective& collective, Reduction is);
// The same of some ranks, in the order that these have.
Steps allreduce_exchange_among(Collective& collective, Members members, Reduction is);

// `partial` becomes what the ranks up to this one come to; exclusive: those before it, and rank 0's is used up.
Steps scan_exchange(Collective& collective, ScanCall call);
Steps scan_chain(Collective& collective, ScanCall call);

// This rank's own block goes where it belongs, unless it is there.
inline void put_own_block(Collective& collective, const portals::Region& to, const portals::Region& from) {
  if (to.bytes() != from.bytes()) return collective.named_other_bytes();
  const bool there = to.contiguous() && from.contiguous() && to.single().base == from.single().base;
  if (!there) portals::copy(to, from);
}
// What the spans refer to stays until the end; at most one message to and one from a peer.
Steps exchange_directly(Collective& collective, std::span<const PeerMessage> out, std::span<const PeerMessage> in,
                        std::size_t at_once = kDirectAtOnce);
// The same inside a node, by what its ranks post. Blocks of more than kReadWhereItLies are read where they lie: the
// operating system's call, 1 us and 0.1 for each page, costs less than a second copy then. Requires:
// team.reads_others().
inline constexpr std::uint64_t kReadWhereItLies = std::uint64_t{16} << 10;
Steps exchange_posted(Collective& collective, Team& team, std::span<const PeerMessage> out,
                      std::span<const PeerMessage> in);
// One of the two. `team`: null, or its members read each other's memory.
inline Steps exchange(Collective& collective, Team* team, std::span<const PeerMessage> out,
                      std::span<const PeerMessage> in, std::size_t at_once = kDirectAtOnce) {
  return team != nullptr ? exchange_posted(collective, *team, out, in)
                         : exchange_directly(collective, out, in, at_once);
}

// Each block straight to the root, and straight from it. `team`: as of exchange().
Steps gather_blocks(Collective& collective, Team* team, GatherCall call);
Steps scatter_blocks(Collective& collective, Team* team, ScatterCall call);

// The elements of a row that are one rank's.
struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;
};
// One for each rank, one behind the other, of lengths that differ by one at most.
[[nodiscard]] std::vector<Slice> even_slices(std::size_t count, int ranks);
// A row, in one run of memory or in pieces of whole elements, that some ranks cut among them: a slice for each, by
// number. The slices stay where they are until the call is over.
struct SlicedRow {
  portals::Region row = {};
  std::span<const Slice> slices = {};
  std::size_t element_bytes = 1;
  [[nodiscard]] std::uint64_t bytes_of(std::size_t member) const { return slices[member].count * element_bytes; }
  [[nodiscard]] portals::Region of(std::size_t member) const {
    return row.slice(slices[member].first * element_bytes, bytes_of(member));
  }
};

// Of `partial` this rank's own slice becomes the result's; the others are as they were. Slices lie one behind the
// other, and are all of the row.
Steps reduce_scatter_direct(Collective& collective, Reduction is, std::span<const Slice> slices);
// As allreduce_exchange, and as reduce_tree; these have a second phase.
Steps allreduce_direct(Collective& collective, Reduction is);
Steps reduce_direct(Collective& collective, int root, Reduction is);
// The same of some ranks. Members that combine in order do so in that of the numbers.
Steps reduce_scatter_among(Collective& collective, Members members, SlicedRow row, Reducer combine);
// Each rank has its own slice, and gets the others'. `has_all`, a number, has all slices already, and gets none.
inline constexpr int kNobody = -1;
Steps collect_among(Collective& collective, Members members, SlicedRow row, int has_all);
// Each one's slice to or from number `root`.
Steps gather_among(Collective& collective, Members members, std::size_t root, SlicedRow row);
Steps scatter_among(Collective& collective, Members members, std::size_t root, SlicedRow row);

// As collect_among and reduce_scatter_among, of an operation that commutes.
Steps collect_bucket(Collective& collective, Members members, SlicedRow row, int has_all);
Steps reduce_scatter_bucket(Collective& collective, Members members, SlicedRow row, Reducer combine);
// As reduce_scatter_direct, allreduce_direct and bcast_tree. The operation commutes. The last two have a second phase.
Steps reduce_scatter_bucket(Collective& collective, Reduction is, std::span<const Slice> slices);
Steps allreduce_bucket(Collective& collective, Reduction is);
Steps bcast_bucket(Collective& collective, int root, portals::Region data);

// As collect_among, to whom nobody has all; and as reduce_scatter_among, of an operation that commutes.
Steps allgather_exchange(Collective& collective, Members members, SlicedRow row);
Steps reduce_scatter_exchange(Collective& collective, Members members, SlicedRow row, Reducer combine);

// By the dimensions of a plan, which is of as many ranks. As allreduce_exchange, bcast_tree, reduce_tree,
// reduce_scatter_direct. The operation commutes, or the plan combines in order (HybridPlan) and the nodes have the
// order of ranks. All but the last two have a second phase.
Steps allreduce_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, Reduction is);
Steps bcast_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, int root, portals::Region data);
Steps reduce_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, int root, Reduction is);
Steps allgather_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, AllgatherCall call);
Steps reduce_scatter_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, Reduction is,
                            std::span<const Slice> slices);

// Through memory that all members see, strip by strip; one strip is a meeting. Blocks have one length, or the call is
// refused.
Steps allgather_strips(Collective& collective, Team& team, AllgatherCall call);
Steps alltoall_strips(Collective& collective, Team& team, AlltoallCall call);

// `all` (root only): size() * block_bytes bytes, in rank order; `mine`: block_bytes bytes, filled.
Steps scatter_tree(Collective& collective, int root, std::byte* all, std::uint64_t block_bytes, portals::Region mine);

// `mine`: block_bytes bytes. `all` (root only): size() * block_bytes bytes, filled in rank order.
Steps gather_tree(Collective& collective, GatherCall call);

}  // namespace margay::collectives
