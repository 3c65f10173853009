// The algorithms of collective operations, one body each: barrier_tree.cpp and so on, which begin with how they go and
// what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/algorithm/calls.hpp"
#include "collectives/op/reducer.hpp"
#include "collectives/portal/collective.hpp"
#include "collectives/portal/team.hpp"
#include "collectives/topology/hybrid_plan.hpp"
#include "collectives/topology/members.hpp"
#include "collectives/topology/node_groups.hpp"
#include "collectives/topology/spanning_tree.hpp"

namespace margay::collectives {

Steps barrier_tree(Collective& collective);
Steps barrier_exchange(Collective& collective);

// `data`: the root's is sent, the others' is filled; the same number of bytes everywhere.
Steps bcast_tree(Collective& collective, int root, portals::Region data);
// The same along a tree that is given, of some of the ranks.
Steps bcast_along(Collective& collective, TreePlace place, portals::Region data);
// As bcast_tree.
Steps bcast_nodes(Collective& collective, const NodeGroups& groups, int root, portals::Region data);

// `partial`: this rank's contribution, `count` elements of `element_bytes`; at the root it becomes the result,
// elsewhere it is used up.
Steps reduce_tree(Collective& collective, int root, std::byte* partial, std::size_t count, std::size_t element_bytes,
                  Reducer combine);
// The same along a tree that is given, of some of the ranks, whose order in its range is kept; `bytes` in all.
// `combine` is not called when there are none.
Steps reduce_along(Collective& collective, TreePlace place, std::byte* partial, std::size_t count, std::uint64_t bytes,
                   Reducer combine);
// As reduce_tree. Requires: count * element_bytes <= kHandshakeBytes. Over several nodes it has a second phase.
// `combine` is not called when there are no bytes.
Steps reduce_nodes(Collective& collective, const NodeGroups& groups, int root, std::byte* partial, std::size_t count,
                   std::size_t element_bytes, Reducer combine);

// `partial`: this rank's contribution, `count` elements of `element_bytes`; becomes the result.
Steps allreduce_exchange(Collective& collective, std::byte* partial, std::size_t count, std::size_t element_bytes,
                         Reducer combine);
// The same of some ranks, in the order that these have.
Steps allreduce_exchange_among(Collective& collective, Members members, std::byte* partial, std::size_t count,
                               std::size_t element_bytes, Reducer combine);

// `partial`: this rank's contribution; becomes what the ranks up to this one come to; exclusive: those before it, and
// rank 0's is used up.
Steps scan_exchange(Collective& collective, ScanKind kind, std::byte* partial, std::size_t count,
                    std::size_t element_bytes, Reducer combine);

Steps scan_chain(Collective& collective, ScanKind kind, std::byte* partial, std::size_t count,
                 std::size_t element_bytes, Reducer combine);

// All that goes between this rank and another one, one way.
struct PeerMessage {
  int peer = -1;  // -1: there is none
  portals::Region data = {};
  // Both sides name no bytes alike, so there is no message then.
  [[nodiscard]] bool moves() const { return peer >= 0 && data.bytes() != 0; }
};
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
// `partial`: this rank's contribution. Its own slice of it becomes the result's; the others are as they were. Slices
// lie one behind the other.
Steps reduce_scatter_direct(Collective& collective, std::byte* partial, std::span<const Slice> slices,
                            std::size_t element_bytes, Reducer combine);
// Each rank has its own slice of `all`, and gets the others'.
Steps allgather_slices(Collective& collective, std::byte* all, std::span<const Slice> slices,
                       std::size_t element_bytes);
// As allreduce_exchange, and as reduce_tree; these have a second phase.
Steps allreduce_direct(Collective& collective, std::byte* partial, std::size_t count, std::size_t element_bytes,
                       Reducer combine);
Steps reduce_direct(Collective& collective, int root, std::byte* partial, std::size_t count, std::size_t element_bytes,
                    Reducer combine);
// The same of some ranks, whose slices are theirs by number, of a row that may lie in pieces of whole elements. Members
// that combine in order do so in that of the numbers. `has_all`, a number, has all slices already, and gets none.
inline constexpr int kNobody = -1;
Steps reduce_scatter_among(Collective& collective, Members members, portals::Region row, std::span<const Slice> slices,
                           std::size_t element_bytes, Reducer combine);
Steps collect_among(Collective& collective, Members members, portals::Region row, std::span<const Slice> slices,
                    std::size_t element_bytes, int has_all);
// Each one's slice to or from number `root`.
Steps gather_among(Collective& collective, Members members, std::size_t root, portals::Region row,
                   std::span<const Slice> slices, std::size_t element_bytes);
Steps scatter_among(Collective& collective, Members members, std::size_t root, portals::Region row,
                    std::span<const Slice> slices, std::size_t element_bytes);

// Each rank has its own slice of `row`, whose elements have element_bytes, and gets the others'; `has_all` has all of
// them already, and gets none.
Steps collect_bucket(Collective& collective, portals::Region row, std::span<const Slice> slices,
                     std::size_t element_bytes, int has_all);
// As reduce_scatter_direct, allreduce_direct and bcast_tree. The operation commutes. The last two have a second phase.
Steps reduce_scatter_bucket(Collective& collective, std::byte* partial, std::span<const Slice> slices,
                            std::size_t element_bytes, Reducer combine);
Steps allreduce_bucket(Collective& collective, std::byte* partial, std::size_t count, std::size_t element_bytes,
                       Reducer combine);
Steps bcast_bucket(Collective& collective, int root, portals::Region data);
// As collect_among and reduce_scatter_among.
Steps collect_bucket(Collective& collective, Members members, portals::Region row, std::span<const Slice> slices,
                     std::size_t element_bytes, int has_all);
Steps reduce_scatter_bucket(Collective& collective, Members members, portals::Region row, std::span<const Slice> slices,
                            std::size_t element_bytes, Reducer combine);

// As collect_among, to whom nobody has all; and as reduce_scatter_among, of an operation that commutes.
Steps allgather_exchange(Collective& collective, Members members, portals::Region row, std::span<const Slice> slices,
                         std::size_t element_bytes);
Steps reduce_scatter_exchange(Collective& collective, Members members, portals::Region row,
                              std::span<const Slice> slices, std::size_t element_bytes, Reducer combine);

// By the dimensions of a plan, which is of as many ranks. As allreduce_exchange, bcast_tree, reduce_tree,
// reduce_scatter_direct; of an allgather a block of each rank stands in `all`, in their order, and this one's is there.
// The operation commutes, or the plan combines in order (HybridPlan) and the nodes have the order of ranks. All but the
// last two have a second phase.
Steps allreduce_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, std::byte* partial,
                       std::size_t count, std::size_t element_bytes, Reducer combine);
Steps bcast_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, int root, portals::Region data);
Steps reduce_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, int root, std::byte* partial,
                    std::size_t count, std::size_t element_bytes, Reducer combine);
Steps allgather_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, std::byte* all,
                       std::uint64_t block_bytes);
Steps reduce_scatter_hybrid(Collective& collective, const NodeGroups& groups, HybridPlan plan, std::byte* partial,
                            std::span<const Slice> slices, std::size_t element_bytes, Reducer combine);

// Through memory that all members see, for calls that wait in place. At most sim::kMeetingPartBytes of each member, or
// the team has strips, and an element is no longer than one.
Steps barrier_shared(Collective& collective, Team& team);
// As allreduce_exchange, scan_exchange, and reduce_scatter_direct.
Steps allreduce_shared(Collective& collective, Team& team, std::byte* partial, std::size_t count,
                       std::size_t element_bytes, Reducer combine);
Steps scan_shared(Collective& collective, Team& team, ScanKind kind, std::byte* partial, std::size_t count,
                  std::size_t element_bytes, Reducer combine);
Steps reduce_scatter_shared(Collective& collective, Team& team, std::byte* partial, std::span<const Slice> slices,
                            std::size_t element_bytes, Reducer combine);
// `all`: a block of each rank, in their order; this one's is there.
Steps allgather_shared(Collective& collective, Team& team, std::byte* all, std::uint64_t block_bytes);
// As exchange_directly, of blocks of one length.
Steps alltoall_shared(Collective& collective, Team& team, std::span<const PeerMessage> out,
                      std::span<const PeerMessage> in, std::uint64_t block_bytes);

// Likewise; nobody waits for those that only read. At most kPostedBytes of each that shows something. As bcast_tree,
// scatter_tree, gather_tree, reduce_tree and scan_exchange. Requires: team.has_strips().
Steps bcast_posted(Collective& collective, Team& team, int root, portals::Region data);
Steps scatter_posted(Collective& collective, Team& team, int root, portals::Region all, std::uint64_t block_bytes,
                     portals::Region mine);
Steps gather_posted(Collective& collective, Team& team, int root, portals::Region mine, std::uint64_t block_bytes,
                    std::byte* all);
Steps reduce_posted(Collective& collective, Team& team, int root, std::byte* partial, std::size_t count,
                    std::size_t element_bytes, Reducer combine);
Steps scan_posted(Collective& collective, Team& team, ScanKind kind, std::byte* partial, std::size_t count,
                  std::size_t element_bytes, Reducer combine);
// All show, all read: as barrier_shared, allreduce_shared, and so on.
Steps barrier_posted(Collective& collective, Team& team);
Steps allreduce_posted(Collective& collective, Team& team, std::byte* partial, std::size_t count,
                       std::size_t element_bytes, Reducer combine);
Steps reduce_scatter_posted(Collective& collective, Team& team, std::byte* partial, std::span<const Slice> slices,
                            std::size_t element_bytes, Reducer combine);
Steps allgather_posted(Collective& collective, Team& team, std::byte* all, std::uint64_t block_bytes);
Steps alltoall_posted(Collective& collective, Team& team, std::span<const PeerMessage> out,
                      std::span<const PeerMessage> in, std::uint64_t block_bytes);
// Of more than that, strip by strip; as those, as bcast_tree and as reduce_tree. Requires: team.has_strips().
Steps allreduce_strips(Collective& collective, Team& team, std::byte* partial, std::size_t count,
                       std::size_t element_bytes, Reducer combine);
Steps reduce_to_root_strips(Collective& collective, Team& team, int root, std::byte* partial, std::size_t count,
                            std::size_t element_bytes, Reducer combine);
Steps reduce_scatter_strips(Collective& collective, Team& team, std::byte* partial, std::span<const Slice> slices,
                            std::size_t element_bytes, Reducer combine);
Steps bcast_strips(Collective& collective, Team& team, int root, portals::Region data);

// `all` (root only): size() * block_bytes bytes, in rank order; `mine`: block_bytes bytes, filled.
Steps scatter_tree(Collective& collective, int root, std::byte* all, std::uint64_t block_bytes, portals::Region mine);

// `mine`: block_bytes bytes. `all` (root only): size() * block_bytes bytes, filled in rank order.
Steps gather_tree(Collective& collective, int root, portals::Region mine, std::uint64_t block_bytes, std::byte* all);

}  // namespace margay::collectives
