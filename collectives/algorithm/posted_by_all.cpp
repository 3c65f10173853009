// Calls of one node in which all show and all read, through what each posts (portal/post), where each rank has a
// processor. Cost, p ranks, n bytes of each: no message; each writes its own, n β, and reads p - 1 others', each with
// one look, n β, and for an allreduce n γ. Of two ranks each moves one line to the other, and both lines move at once;
// where all meet (algorithm/shared) a counter goes from one to the next, and its opening to all: p looks one after the
// other.
//
// Parts are combined in the order of ranks, so the operation need not be commutative; the bracketing is that order, and
// all end with the same bits.
#include <algorithm>
#include <cstring>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/scratch.hpp"
#include "collectives/portal/post.hpp"

namespace margay::collectives {

namespace {

// Combines all members' slices of what they posted, the last one's first. `mine`: this one's, where it lies, and where
// the result goes.
void combine_postings(const Collective& collective, const Post& post, std::byte* mine, const Slice& slice,
                      std::size_t element_bytes, const Reducer& combine) {
  const std::uint64_t bytes = slice.count * element_bytes;
  if (bytes == 0) return;
  const auto part = [&](int rank) {
    return rank == collective.rank() ? mine : post.data(rank) + slice.first * element_bytes;
  };
  const int last = collective.size() - 1;
  Scratch result(collective, bytes);
  portals::copy_bytes(result.base(), part(last), bytes);
  for (int rank = last; rank-- > 0;) combine(part(rank), result.base(), slice.count);
  portals::copy_bytes(mine, result.base(), bytes);
}

// Each shows its row of `count` elements, and gets what all rows' `mine` comes to.
Steps combine_by_all(Collective& collective, Team& team, std::byte* partial, std::size_t count, Slice mine,
                     std::size_t element_bytes, Reducer combine) {
  Post post(collective, team, count * element_bytes);
  co_await post.room();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  portals::copy_bytes(post.mine(), partial, count * element_bytes);
  post.show_to_all();
  co_await post.of_all();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  combine_postings(collective, post, partial + mine.first * element_bytes, mine, element_bytes, combine);
}

}  // namespace

Steps barrier_posted(Collective& collective, Team& team) {
  Post post(collective, team, 0);
  co_await post.room();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  static_cast<void>(post.mine());
  post.show_to_all();
  co_await post.of_all();
}

Steps allreduce_posted(Collective& collective, Team& team, std::byte* partial, std::size_t count,
                       std::size_t element_bytes, Reducer combine) {
  return combine_by_all(collective, team, partial, count, {0, count}, element_bytes, combine);
}

Steps reduce_scatter_posted(Collective& collective, Team& team, std::byte* partial, std::span<const Slice> slices,
                            std::size_t element_bytes, Reducer combine) {
  const Slice& mine = slices[static_cast<std::size_t>(collective.rank())];
  return combine_by_all(collective, team, partial, slices.back().first + slices.back().count, mine, element_bytes,
                        combine);
}

Steps allgather_posted(Collective& collective, Team& team, std::byte* all, std::uint64_t block_bytes) {
  const auto block = [&](int rank) { return all + static_cast<std::uint64_t>(rank) * block_bytes; };
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

Steps alltoall_posted(Collective& collective, Team& team, std::span<const PeerMessage> out,
                      std::span<const PeerMessage> in, std::uint64_t block_bytes) {
  Post post(collective, team, block_bytes * static_cast<std::uint64_t>(collective.size()));
  const auto fits = [&](const PeerMessage& block) { return block.data.bytes() == block_bytes; };
  if (!std::ranges::all_of(out, fits) || !std::ranges::all_of(in, fits)) {
    collective.refuse_call();
    co_return;
  }
  co_await post.room();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  std::byte* const mine = post.mine();
  for (const PeerMessage& block : out) {
    portals::copy(portals::Region(mine + static_cast<std::uint64_t>(block.peer) * block_bytes, block_bytes),
                  block.data);
  }
  post.show_to_all();
  co_await post.of_all();
  if (collective.error_class() != MPI_SUCCESS || block_bytes == 0) co_return;
  for (const PeerMessage& block : in) {
    // The region is only read.
    std::byte* const from =
        const_cast<std::byte*>(post.data(block.peer)) + static_cast<std::uint64_t>(collective.rank()) * block_bytes;
    portals::copy(block.data, portals::Region(from, block_bytes));
  }
}

}  // namespace margay::collectives
