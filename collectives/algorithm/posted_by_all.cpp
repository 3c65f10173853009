// Calls of one node in which all ranks post and all read (portal/post), where each rank has a processor. Cost, p ranks,
// n bytes of each, and no message: each rank writes its own data, n β, and reads that of p - 1 others. Each read costs
// a poll and n β, and in an allreduce n γ. With two ranks one cache line moves in each direction at the same time. A
// shared-memory barrier (algorithm/shared_barrier) takes longer: its counter goes from rank to rank before all find it
// open, which is p polls one after the other.
//
// Parts are combined in the order of ranks, from the last one on, a0 (a1 (a2 a3)). So the operation need not be
// commutative, and all ranks get the same bits.
#include <algorithm>
#include <cstring>

#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/portal/post.hpp"

namespace margay::collectives {

namespace {

// Combines all members' posted slices into this member's slice, from the last rank to the first.
void combine_postings(const Collective& collective, const Post& post, const Reduction& is, const Slice& slice) {
  const std::uint64_t bytes = slice.count * is.element_bytes;
  if (bytes == 0) return;
  const std::uint64_t offset = slice.first * is.element_bytes;
  std::byte* const mine = is.partial + offset;
  const auto part = [&](int rank) { return rank == collective.rank() ? mine : post.data(rank) + offset; };
  const int last = collective.size() - 1;
  // Not in place: the own part is needed at its turn, between the lower and the higher ranks' parts.
  Scratch result(collective, bytes);
  portals::copy_bytes(result.base(), part(last), bytes);
  for (int rank = last; rank-- > 0;) is.combine(part(rank), result.base(), slice.count);
  portals::copy_bytes(mine, result.base(), bytes);
}

// Each rank posts its vector, and receives the combination of all vectors' slice `mine`.
Steps combine_by_all(Collective& collective, Team& team, Reduction is, Slice mine) {
  Post post(collective, team, is.bytes());
  co_await post.room();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  portals::copy_bytes(post.mine(), is.partial, is.bytes());
  post.show_to_all();
  co_await post.of_all();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  combine_postings(collective, post, is, mine);
}

Steps barrier_posted(Collective& collective, Team& team) {
  Post post(collective, team, 0);
  co_await post.room();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  // Counts the posting, which has no data.
  static_cast<void>(post.mine());
  post.show_to_all();
  co_await post.of_all();
}

Steps reduce_scatter_posted(Collective& collective, Team& team, ReduceScatterCall call) {
  const std::vector<Slice> slices = slices_of(call, collective.size());
  co_await combine_by_all(collective, team, call.reduction, slices[static_cast<std::size_t>(collective.rank())]);
}

Steps allgather_posted(Collective& collective, Team& team, AllgatherCall call) {
  if (!place_even_block(collective, call)) co_return;
  const std::uint64_t block_bytes = call.block_bytes;
  const auto block = [&](int rank) { return call.all + static_cast<std::uint64_t>(rank) * block_bytes; };
  Post post(collective, team, block_bytes);
  co_await post.room();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  portals::copy_bytes(post.mine(), block(collective.rank()), block_bytes);
  post.show_to_all();
  co_await post.of_all();
  if (collective.error_class() != MPI_SUCCESS || block_bytes == 0) co_return;
  for (int rank = 0; rank < collective.size(); ++rank) {
    if (rank != collective.rank()) portals::copy_bytes(block(rank), post.data(rank), block_bytes);
  }
}

Steps alltoall_posted(Collective& collective, Team& team, AlltoallCall call) {
  const std::uint64_t block_bytes = call.block_bytes;
  Post post(collective, team, block_bytes * static_cast<std::uint64_t>(collective.size()));
  if (!call.is_even()) {
    collective.refuse_call();
    co_return;
  }
  co_await post.room();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  std::byte* const mine = post.mine();
  for (const PeerMessage& block : call.out) {
    portals::copy(portals::Region(mine + static_cast<std::uint64_t>(block.peer) * block_bytes, block_bytes),
                  block.data);
  }
  post.show_to_all();
  co_await post.of_all();
  if (collective.error_class() != MPI_SUCCESS || block_bytes == 0) co_return;
  for (const PeerMessage& block : call.in) {
    // Region has no read-only form; this region is only read.
    std::byte* const from =
        const_cast<std::byte*>(post.data(block.peer)) + static_cast<std::uint64_t>(collective.rank()) * block_bytes;
    portals::copy(block.data, portals::Region(from, block_bytes));
  }
}

// Few ranks with a processor each: each polls all others, so the polls grow with p².
bool few_post(const Facts& facts, std::uint64_t shown) {
  constexpr int kFew = 4;
  return facts.strips && !facts.crowded && facts.ranks <= kFew && shown <= kPostedBytes;
}
bool all_post(const CallFacts& call) {
  return few_post(call.facts, call.bytes);
}
bool all_post_blocks(const CallFacts& call) {
  return few_post(call.facts, call.blocks_bytes());
}

}  // namespace

extern constinit const Row<BarrierCall> barrier_by_posting{
    {Algorithm::shared, all_post,
     [](const CallFacts& call) {
       return post_by_all(call.ranks(), 0, 0, {0, 0});
     }},
    [](Collective& collective, const Means& means, const BarrierCall& /*call*/) {
      return barrier_posted(collective, *means.team);
    }};
extern constinit const Row<AllreduceCall> allreduce_by_posting{
    {Algorithm::shared, all_post,
     [](const CallFacts& call) {
       const double combined = (call.ranks() - 1) * call.n();
       return post_by_all(call.ranks(), call.n(), call.n(), {combined, call.ranks() * combined});
     }},
    [](Collective& collective, const Means& means, const AllreduceCall& call) {
      return combine_by_all(collective, *means.team, call.reduction, {0, call.reduction.count});
    }};
extern constinit const Row<ReduceScatterCall> reduce_scatter_by_posting{
    {Algorithm::shared, all_post,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks();
       return post_by_all(p, n, n / p, {(p - 1) / p * n, (p - 1) * n});
     }},
    [](Collective& collective, const Means& means, const ReduceScatterCall& call) {
      return reduce_scatter_posted(collective, *means.team, call);
    }};
extern constinit const Row<AllgatherCall> allgather_by_posting{
    {Algorithm::shared, all_post,
     [](const CallFacts& call) {
       return post_by_all(call.ranks(), call.n(), call.n(), {0, 0});
     }},
    [](Collective& collective, const Means& means, const AllgatherCall& call) {
      return allgather_posted(collective, *means.team, call);
    }};
extern constinit const Row<AlltoallCall> alltoall_by_posting{
    {Algorithm::shared, all_post_blocks,
     [](const CallFacts& call) {
       return post_by_all(call.ranks(), (call.ranks() - 1) * call.n(), call.n(), {0, 0});
     }},
    [](Collective& collective, const Means& means, const AlltoallCall& call) {
      return alltoall_posted(collective, *means.team, call);
    }};

}  // namespace margay::collectives
