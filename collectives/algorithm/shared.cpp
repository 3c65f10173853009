// Calls of one node through memory that all members see (portal/meet): each shows the others its part, who comes last
// opens, and all read what they need. Cost, p ranks, n bytes of each: one turn of a processor each and no message; 2 n
// β to write and read one part; who comes last combines all of an allreduce, (p - 1) n γ, and the others copy the
// result; in a reduce-scatter each reads its block of p parts; in a scan the parts of the ranks up to its own. For
// short data on crowded nodes: a rank is scheduled once, whatever p is.
//
// Parts are combined in the order of ranks, so the operation need not be commutative; the bracketing is that order.
#include <cstring>
#include <utility>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/scratch.hpp"
#include "collectives/portal/meet.hpp"

namespace margay::collectives {

namespace {

// Blocks of all parts, from the last rank's to the first's: each step leaves its result where the next one wants it.
void combine_parts(Meet& meet, int ranks, std::uint64_t offset, std::byte* result, std::size_t count,
                   std::uint64_t bytes, const Reducer& combine) {
  std::memcpy(result, meet.part(ranks - 1, bytes) + offset, bytes);
  for (int rank = ranks - 1; rank-- > 0;) combine(meet.part(rank, bytes) + offset, result, count);
}

void show(Meet& meet, const std::byte* data, std::uint64_t bytes) {
  if (bytes != 0) std::memcpy(meet.mine(), data, bytes);
}

}  // namespace

Steps barrier_shared(Collective& collective, Team& team) {
  Meet meet(collective, team, 0);
  meet.arrive(0);
  co_await meet;
}

Steps allreduce_shared(Collective& collective, Team& team, std::byte* partial, std::size_t count,
                       std::size_t element_bytes, Reducer combine) {
  const std::uint64_t bytes = count * element_bytes;
  if (bytes > sim::kMeetingPartBytes) {
    co_await allreduce_strips(collective, team, partial, count, element_bytes, combine);
    co_return;
  }
  Meet meet(collective, team, bytes);
  show(meet, partial, bytes);
  if (meet.come(bytes)) {
    if (collective.error_class() == MPI_SUCCESS && bytes != 0) {
      combine_parts(meet, collective.size(), 0, partial, count, bytes, combine);
      show(meet, partial, bytes);
    }
    meet.open();
    co_return;
  }
  co_await meet;
  if (collective.error_class() == MPI_SUCCESS && bytes != 0)
    std::memcpy(partial, meet.part(meet.opener(), bytes), bytes);
}

Steps scan_shared(Collective& collective, Team& team, ScanKind kind, std::byte* partial, std::size_t count,
                  std::size_t element_bytes, Reducer combine) {
  const std::uint64_t bytes = count * element_bytes;
  Meet meet(collective, team, bytes);
  show(meet, partial, bytes);
  meet.arrive(bytes);
  co_await meet;
  const int parts = collective.rank() + (kind == ScanKind::inclusive ? 1 : 0);
  if (collective.error_class() != MPI_SUCCESS || bytes == 0 || parts == 0) co_return;
  combine_parts(meet, parts, 0, partial, count, bytes, combine);
}

Steps reduce_scatter_shared(Collective& collective, Team& team, std::byte* partial, std::span<const Slice> slices,
                            std::size_t element_bytes, Reducer combine) {
  const std::uint64_t all_bytes = (slices.back().first + slices.back().count) * element_bytes;
  if (all_bytes > sim::kMeetingPartBytes) {
    co_await reduce_scatter_strips(collective, team, partial, slices, element_bytes, combine);
    co_return;
  }
  Meet meet(collective, team, all_bytes);
  show(meet, partial, all_bytes);
  meet.arrive(all_bytes);
  co_await meet;
  const Slice& mine = slices[static_cast<std::size_t>(collective.rank())];
  if (collective.error_class() != MPI_SUCCESS || mine.count == 0) co_return;
  const std::uint64_t offset = mine.first * element_bytes;
  combine_parts(meet, collective.size(), offset, partial + offset, mine.count, mine.count * element_bytes, combine);
}

}  // namespace margay::collectives
