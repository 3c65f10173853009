// Calls of one node in which some show and others read, through memory that all members see (portal/post). Cost, p
// ranks, n bytes of each: no message; who shows something writes it once, n β, and is done; each reader reads it, n β,
// the root of a reduction or a gather (p - 1) n, with (p - 1) n γ. A broadcast, a scatter: the root shows, all read. A
// reduction, a gather: all show, the root reads. A scan: each rank reads what the ranks before it come to, adds its
// own, and shows that to the next one. Nobody waits for those that read, so calls that follow each other overlap, and
// where ranks outnumber processors a rank is scheduled once for many of them.
//
// Parts are combined in the order of ranks, so the operation need not be commutative; the bracketing is that order.
#include <cstring>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/scratch.hpp"
#include "collectives/portal/post.hpp"

namespace margay::collectives {

namespace {

// What is posted is only read.
portals::Region posted(const Post& post, int member, std::uint64_t offset, std::uint64_t bytes) {
  return portals::Region(const_cast<std::byte*>(post.data(member)) + offset, bytes);
}

}  // namespace

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

Steps scatter_posted(Collective& collective, Team& team, int root, portals::Region all, std::uint64_t block_bytes,
                     portals::Region mine) {
  const std::uint64_t bytes = block_bytes * static_cast<std::uint64_t>(collective.size());
  Post post(collective, team, bytes);
  const std::uint64_t offset = block_bytes * static_cast<std::uint64_t>(collective.rank());
  if (collective.rank() != root) {
    if (mine.bytes() != block_bytes) collective.named_other_bytes();
    co_await post.of(root);
    if (collective.error_class() == MPI_SUCCESS && block_bytes != 0) {
      portals::copy(mine, posted(post, root, offset, block_bytes));
    }
    co_return;
  }
  co_await post.room();
  if (collective.error_class() != MPI_SUCCESS) co_return;
  portals::copy(portals::Region(post.mine(), bytes), all);
  post.show_to_all();
  put_own_block(collective, mine, all.slice(offset, block_bytes));
}

Steps gather_posted(Collective& collective, Team& team, int root, portals::Region mine, std::uint64_t block_bytes,
                    std::byte* all) {
  Post post(collective, team, block_bytes);
  if (mine.bytes() != block_bytes) collective.named_other_bytes();
  if (collective.rank() != root) {
    co_await post.room();
    if (collective.error_class() != MPI_SUCCESS) co_return;
    portals::copy(portals::Region(post.mine(), block_bytes), mine);
    post.show_to(root);
    co_return;
  }
  const auto block = [&](int rank) {
    return portals::Region(all + static_cast<std::uint64_t>(rank) * block_bytes, block_bytes);
  };
  for (int rank = 0; rank < collective.size(); ++rank) {
    if (rank == root) continue;
    co_await post.of(rank);
    if (collective.error_class() != MPI_SUCCESS) co_return;
    if (block_bytes != 0) portals::copy(block(rank), posted(post, rank, 0, block_bytes));
  }
  if (block_bytes == 0 || (mine.contiguous() && mine.single().base == block(root).single().base)) co_return;
  portals::copy(block(root), mine);
}

Steps reduce_posted(Collective& collective, Team& team, int root, std::byte* partial, std::size_t count,
                    std::size_t element_bytes, Reducer combine) {
  const std::uint64_t bytes = count * element_bytes;
  Post post(collective, team, bytes);
  if (collective.rank() != root) {
    co_await post.room();
    if (collective.error_class() != MPI_SUCCESS) co_return;
    portals::copy_bytes(post.mine(), partial, bytes);
    post.show_to(root);
    co_return;
  }
  // From the last rank to the first: each step leaves its result where the next one wants it.
  const int last = collective.size() - 1;
  Scratch scratch(collective, root == last ? 0 : bytes);
  std::byte* const result = root == last ? partial : scratch.base();
  for (int rank = last; rank >= 0; --rank) {
    if (rank != root) co_await post.of(rank);
    if (collective.error_class() != MPI_SUCCESS) co_return;
    if (bytes == 0 || (rank == last && rank == root)) continue;
    const std::byte* const part = rank == root ? partial : post.data(rank);
    if (rank == last) {
      std::memcpy(result, part, bytes);
    } else {
      combine(part, result, count);
    }
  }
  if (result != partial && bytes != 0) std::memcpy(partial, result, bytes);
}

Steps scan_posted(Collective& collective, Team& team, ScanKind kind, std::byte* partial, std::size_t count,
                  std::size_t element_bytes, Reducer combine) {
  const std::uint64_t bytes = count * element_bytes;
  const int before = collective.rank() - 1;
  const bool first = before < 0;
  const bool last = collective.rank() + 1 == collective.size();
  Post post(collective, team, bytes);
  if (!first) {
    co_await post.of(before);
    if (collective.error_class() != MPI_SUCCESS) co_return;
    if (bytes != 0 && (!last || kind == ScanKind::inclusive)) combine(post.data(before), partial, count);
  }
  if (!last) {
    co_await post.room();
    if (collective.error_class() != MPI_SUCCESS) co_return;
    portals::copy_bytes(post.mine(), partial, bytes);
    post.show_to(collective.rank() + 1);
  }
  if (kind == ScanKind::exclusive && !first && bytes != 0) std::memcpy(partial, post.data(before), bytes);
}

}  // namespace margay::collectives
