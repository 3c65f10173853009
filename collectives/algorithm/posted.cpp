// Calls of one node in which some ranks post and others read (portal/post). Broadcast and scatter: the root posts, and
// all read. Reduction and gather: all post, and the root reads. A scan: each rank reads the combination of the ranks
// before it, adds its own part, and posts the result for the next rank. Cost, of p ranks and postings of n bytes (a
// scatter's posting has the blocks of all ranks), without messages:
//   a poster        n β, once
//   a reader        n β; in a scatter n/p β
//   a reading root  (p - 1) n β, and in a reduction (p - 1) n γ
// No rank waits for readers, so consecutive calls overlap, and where ranks outnumber processors a rank is scheduled
// once for many calls.
//
// Parts are combined in the order of ranks, so the operation need not be commutative. A reduction combines from the
// last rank on, a0 (a1 (a2 a3)), a scan from the first, ((a0 a1) a2) a3.
#include <cstring>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/portal/post.hpp"

namespace margay::collectives {

namespace {

// A part of a posting as a region, which is only read.
portals::Region posted(const Post& post, int member, std::uint64_t offset, std::uint64_t bytes) {
  return portals::Region(const_cast<std::byte*>(post.data(member)) + offset, bytes);
}

Steps bcast_posted(Collective& collective, Team& team, int root, portals::Region data) {
  Post post(collective, team, data.bytes());
  if (collective.rank() == root) {
    co_await post.room();
    if (collective.error_class() != MPI_SUCCESS) co_return;
    portals::copy(portals::Region(post.mine(), data.bytes()), data);
    post.show_to_all();
    co_return;
  }
  co_await post.of(root);
  if (collective.error_class() != MPI_SUCCESS || data.bytes() == 0) co_return;
  portals::copy(data, posted(post, root, 0, data.bytes()));
}

Steps scatter_posted(Collective& collective, Team& team, ScatterCall call) {
  const std::uint64_t block_bytes = call.block_bytes;
  const std::uint64_t bytes = block_bytes * static_cast<std::uint64_t>(collective.size());
  Post post(collective, team, bytes);
  const std::uint64_t offset = block_bytes * static_cast<std::uint64_t>(collective.rank());
  if (collective.rank() != call.root) {
    if (call.mine.bytes() != block_bytes) collective.named_other_bytes();
    co_await post.of(call.root);
    if (collective.error_class() == MPI_SUCCESS && block_bytes != 0) {
      portals::copy(call.mine, posted(post, call.root, offset, block_bytes));
    }
    co_return;
  }
  co_await post.room();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  portals::copy(portals::Region(post.mine(), bytes), call.all);
  post.show_to_all();
  put_own_block(collective, call.mine, call.all.slice(offset, block_bytes));
}

Steps gather_posted(Collective& collective, Team& team, GatherCall call) {
  const std::uint64_t block_bytes = call.block_bytes;
  const portals::Region& mine = call.mine;
  Post post(collective, team, block_bytes);
  if (mine.bytes() != block_bytes) collective.named_other_bytes();
  if (collective.rank() != call.root) {
    co_await post.room();
    if (collective.error_class() != MPI_SUCCESS) co_return;
    portals::copy(portals::Region(post.mine(), block_bytes), mine);
    post.show_to(call.root);
    co_return;
  }
  const auto block = [&](int rank) {
    return portals::Region(call.all + static_cast<std::uint64_t>(rank) * block_bytes, block_bytes);
  };
  for (int rank = 0; rank < collective.size(); ++rank) {
    if (rank == call.root) continue;
    co_await post.of(rank);
    if (collective.error_class() != MPI_SUCCESS) co_return;
    if (block_bytes != 0) portals::copy(block(rank), posted(post, rank, 0, block_bytes));
  }
  if (block_bytes == 0 || (mine.contiguous() && mine.single().base == block(call.root).single().base)) co_return;
  portals::copy(block(call.root), mine);
}

Steps reduce_posted(Collective& collective, Team& team, int root, Reduction is) {
  const std::uint64_t bytes = is.bytes();
  Post post(collective, team, bytes);
  if (collective.rank() != root) {
    co_await post.room();
    if (collective.error_class() != MPI_SUCCESS) co_return;
    portals::copy_bytes(post.mine(), is.partial, bytes);
    post.show_to(root);
    co_return;
  }
  // From the last rank to the first: each step leaves its result in the next one's right operand.
  const int last = collective.size() - 1;
  Scratch scratch(collective, root == last ? 0 : bytes);
  std::byte* const result = root == last ? is.partial : scratch.base();
  for (int rank = last; rank >= 0; --rank) {
    if (rank != root) co_await post.of(rank);
    if (collective.error_class() != MPI_SUCCESS) co_return;
    if (bytes == 0 || (rank == last && rank == root)) continue;
    const std::byte* const part = rank == root ? is.partial : post.data(rank);
    if (rank == last) {
      std::memcpy(result, part, bytes);
    } else {
      is.combine(part, result, is.count);
    }
  }
  if (result != is.partial && bytes != 0) std::memcpy(is.partial, result, bytes);
}

Steps scan_posted(Collective& collective, Team& team, ScanCall call) {
  const Reduction& is = call.reduction;
  const std::uint64_t bytes = is.bytes();
  const int before = collective.rank() - 1;
  const bool first = before < 0;
  const bool last = collective.rank() + 1 == collective.size();
  Post post(collective, team, bytes);
  // Posts only after reading: its posting is the combination of all ranks up to this one.
  if (!first) {
    co_await post.of(before);
    if (collective.error_class() != MPI_SUCCESS) co_return;
    if (bytes != 0 && (!last || call.kind == ScanKind::inclusive)) {
      is.combine(post.data(before), is.partial, is.count);
    }
  }
  if (!last) {
    co_await post.room();
    if (collective.error_class() != MPI_SUCCESS) co_return;
    portals::copy_bytes(post.mine(), is.partial, bytes);
    post.show_to(collective.rank() + 1);
  }
  // Only after this rank has posted, because the copy overwrites the vector that it posts. The posting of the rank
  // before does not change until this member is done with the call.
  if (call.kind == ScanKind::exclusive && !first && bytes != 0) std::memcpy(is.partial, post.data(before), bytes);
}

bool posting_fits(const CallFacts& call) {
  return call.facts.strips && call.bytes <= kPostedBytes;
}
// The root posts all blocks at once.
bool blocks_fit_posting(const CallFacts& call) {
  return call.facts.strips && call.bytes <= kPostedBytes / static_cast<std::uint64_t>(call.facts.ranks);
}
// A scan is a chain of postings. It is used if ranks outnumber processors, because a barrier would wait until each rank
// has been scheduled. It is also used for data that is too long for a barrier's part.
bool chain_fits(const CallFacts& call) {
  return posting_fits(call) && (call.facts.crowded || call.bytes > sim::kBarrierPartBytes);
}

}  // namespace

extern constinit const Row<BcastCall> bcast_by_posting{
    {Algorithm::shared, posting_fits,
     [](const CallFacts& call) {
       return post(call.ranks() - 1, {call.n(), call.ranks() * call.n()});
     }},
    [](Collective& collective, const Means& means, const BcastCall& call) {
      return bcast_posted(collective, *means.team, call.root, call.data);
    }};
extern constinit const Row<ReduceCall> reduce_by_posting{
    {Algorithm::shared, posting_fits,
     [](const CallFacts& call) {
       const double combined = (call.ranks() - 1) * call.n();
       return post(call.ranks() - 1, {call.n(), call.ranks() * call.n()}, {combined, combined});
     }},
    [](Collective& collective, const Means& means, const ReduceCall& call) {
      return reduce_posted(collective, *means.team, call.root, call.reduction);
    }};
extern constinit const Row<GatherCall> gather_by_posting{
    {Algorithm::shared, posting_fits,
     [](const CallFacts& call) {
       const double moved = (call.ranks() - 1) * call.n();
       return post(call.ranks() - 1, {moved, 2 * moved});
     }},
    [](Collective& collective, const Means& means, const GatherCall& call) {
      return gather_posted(collective, *means.team, call);
    }};
extern constinit const Row<ScatterCall> scatter_by_posting{
    {Algorithm::shared, blocks_fit_posting,
     [](const CallFacts& call) {
       const double all = call.ranks() * call.n();
       return post(call.ranks() - 1, {all, 2 * all});
     }},
    [](Collective& collective, const Means& means, const ScatterCall& call) {
      return scatter_posted(collective, *means.team, call);
    }};
extern constinit const Row<ScanCall> scan_by_posting{
    {Algorithm::shared, chain_fits, [](const CallFacts& call) { return chain_of_posts(call.n(), call.ranks()); }},
    [](Collective& collective, const Means& means, const ScanCall& call) {
      return scan_posted(collective, *means.team, call);
    }};

}  // namespace margay::collectives
