// The algorithms of collective operations, each a routine that carries out one rank's part of a call. A file holds one
// algorithm for all operations (tree.cpp, exchange.cpp, ...) and begins with its method and its cost.
//
// Every member calls the same routine with arguments that fit each other, in the same order of calls. `collective`
// outlives the routine; errors are reported through it (error_class()). Memory passed by reference or address must stay
// valid until the routine's end.
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

// Barriers: in and out along the tree, at 2 ceil(log2 p) start-ups; or by dissemination, at ceil(log2 p).
Steps barrier_tree(Collective& collective);
Steps barrier_exchange(Collective& collective);

// Broadcast along the spanning tree. `data`: sent from the root, filled on the other ranks; the same number of bytes
// everywhere.
Steps bcast_tree(Collective& collective, int root, portals::Region data);
// The same along a given tree of some of the ranks.
Steps bcast_along(Collective& collective, TreePosition position, portals::Region data);
// The same in two levels: between the nodes' leaders, then inside each node.
Steps bcast_nodes(Collective& collective, const NodeGroups& groups, int root, portals::Region data);

// Reduction along the spanning tree. At the root `is.partial` becomes the result, elsewhere its contents are
// unspecified afterwards. `is.combine` is not called for empty data.
Steps reduce_tree(Collective& collective, int root, Reduction is);
// The same along a given tree of some of the ranks; keeps their order in the tree's range.
Steps reduce_along(Collective& collective, TreePosition position, Reduction is);
// The same in two levels. Requires: is.bytes() <= kHandshakeBytes. Uses a second phase if there are several nodes.
Steps reduce_nodes(Collective& collective, const NodeGroups& groups, int root, Reduction is);

// Allreduce by recursive doubling: `is.partial` becomes the result on every rank, with the same bits.
Steps allreduce_exchange(Collective& collective, Reduction is);
// The same among some ranks, in their order.
Steps allreduce_exchange_among(Collective& collective, Members members, Reduction is);

// Scans by rounds and along the chain: the call's `partial` becomes the combination of the ranks up to this one.
// Exclusive: of the ranks before this one; on rank 0 its contents are unspecified.
Steps scan_exchange(Collective& collective, ScanCall call);
Steps scan_chain(Collective& collective, ScanCall call);

// Copies this rank's own block to its place, unless it is there already.
inline void put_own_block(Collective& collective, const portals::Region& to, const portals::Region& from) {
  if (to.bytes() != from.bytes()) return collective.named_other_bytes();
  const bool there = to.contiguous() && from.contiguous() && to.single().base == from.single().base;
  if (!there) portals::copy(to, from);
}
// Sends each message of `out` straight to its peer and receives those of `in`, `at_once` at a time. The spans stay
// valid until the routine's end. At most one message goes to each peer, and one comes from each.
Steps exchange_directly(Collective& collective, std::span<const PeerMessage> out, std::span<const PeerMessage> in,
                        std::size_t at_once = kDirectAtOnce);
// The same inside a node, through postings. Blocks of more than kReadInPlaceBytes are read in their owner's memory: the
// system call, 1 us and 0.1 us for each page, then costs less than a second copy. Requires: team.reads_others().
inline constexpr std::uint64_t kReadInPlaceBytes = std::uint64_t{16} << 10;
Steps exchange_posted(Collective& collective, Team& team, std::span<const PeerMessage> out,
                      std::span<const PeerMessage> in);
// exchange_directly() if `team` is null, else exchange_posted(). Requires: the members of `team` can read each other's
// memory.
inline Steps exchange(Collective& collective, Team* team, std::span<const PeerMessage> out,
                      std::span<const PeerMessage> in, std::size_t at_once = kDirectAtOnce) {
  return team != nullptr ? exchange_posted(collective, *team, out, in)
                         : exchange_directly(collective, out, in, at_once);
}

// Gather and scatter with each block sent straight to or from the root. `team`: as in exchange().
Steps gather_blocks(Collective& collective, Team* team, GatherCall call);
Steps scatter_blocks(Collective& collective, Team* team, ScatterCall call);

// The elements of a vector that belong to one rank; counted in elements, not bytes.
struct Slice {
  std::size_t first = 0;
  std::size_t count = 0;
};
// Cuts `count` elements into consecutive slices, one for each rank, whose lengths differ by one at most.
[[nodiscard]] std::vector<Slice> even_slices(std::size_t count, int ranks);
// A vector, in one run of memory or in pieces of whole elements, and its slices, one for each member by number. The
// slices outlive it.
struct SlicedVector {
  portals::Region region = {};
  std::span<const Slice> slices = {};
  std::size_t element_bytes = 1;
  [[nodiscard]] std::uint64_t bytes_of(std::size_t member) const { return slices[member].count * element_bytes; }
  [[nodiscard]] portals::Region of(std::size_t member) const {
    return region.slice(slices[member].first * element_bytes, bytes_of(member));
  }
};

// Reduce-scatter in which each rank combines its slice. In `is.partial` this rank's slice becomes that of the result;
// the other slices do not change. The slices are consecutive and cover the vector.
Steps reduce_scatter_direct(Collective& collective, Reduction is, std::span<const Slice> slices);
// The same operations as allreduce_exchange and reduce_tree, by slices; both use a second phase.
Steps allreduce_direct(Collective& collective, Reduction is);
Steps reduce_direct(Collective& collective, int root, Reduction is);
// Reduce-scatter among some ranks. Members are combined in the order of their numbers unless the operation commutes.
Steps reduce_scatter_among(Collective& collective, Members members, SlicedVector vector, Reducer combine);
// Each rank has its own slice, and receives the others'. Member number `has_all` has all slices already, and receives
// none; kNoMember: no member.
inline constexpr int kNoMember = -1;
Steps collect_among(Collective& collective, Members members, SlicedVector vector, int has_all);
// Each member's slice goes to member number `root`, or comes from it.
Steps gather_among(Collective& collective, Members members, std::size_t root, SlicedVector vector);
Steps scatter_among(Collective& collective, Members members, std::size_t root, SlicedVector vector);

// The same operations as collect_among and reduce_scatter_among, round a ring. The operation commutes.
Steps collect_bucket(Collective& collective, Members members, SlicedVector vector, int has_all);
Steps reduce_scatter_bucket(Collective& collective, Members members, SlicedVector vector, Reducer combine);
// The same operations as reduce_scatter_direct, allreduce_direct and bcast_tree, round a ring of all ranks. The
// operation commutes. The last two use a second phase.
Steps reduce_scatter_bucket(Collective& collective, Reduction is, std::span<const Slice> slices);
Steps allreduce_bucket(Collective& collective, Reduction is);
Steps bcast_bucket(Collective& collective, int root, portals::Region data);

// The same operations as collect_among without `has_all`, and as reduce_scatter_among, in rounds between partners. The
// operation commutes.
Steps allgather_exchange(Collective& collective, Members members, SlicedVector vector);
Steps reduce_scatter_exchange(Collective& collective, Members members, SlicedVector vector, Reducer combine);

// Hybrids: the same operations as allreduce_exchange, bcast_tree, reduce_tree, an allgather and reduce_scatter_direct,
// along the dimensions of a plan. The plan's grid has as many ranks as the communicator. Requires: the operation
// commutes; or the plan combines in order (HybridPlan), and the order of ranks is that of the grid
// (NodeGroups::in_rank_order()). All but the last two use a second phase.
Steps allreduce_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, Reduction is);
Steps bcast_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, int root, portals::Region data);
Steps reduce_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, int root, Reduction is);
Steps allgather_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, AllgatherCall call);
Steps reduce_scatter_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, Reduction is,
                            std::span<const Slice> slices);

// Through shared memory, strip by strip with a barrier each. Blocks have equal lengths, or the call is refused.
Steps allgather_strips(Collective& collective, Team& team, AllgatherCall call);
Steps alltoall_strips(Collective& collective, Team& team, AlltoallCall call);

// Scatter along the spanning tree. `all` (root only): size() * block_bytes bytes in the order of ranks; `mine`:
// block_bytes bytes, filled.
Steps scatter_tree(Collective& collective, int root, std::byte* all, std::uint64_t block_bytes, portals::Region mine);

// Gather along the spanning tree. `mine`: block_bytes bytes; `all` (root only): size() * block_bytes bytes, filled in
// the order of ranks.
Steps gather_tree(Collective& collective, GatherCall call);

}  // namespace margay::collectives
