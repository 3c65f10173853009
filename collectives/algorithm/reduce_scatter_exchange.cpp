// Reduce-scatter by rounds between partners, those of allgather_exchange backwards: in the round of 2^k each rank sends
// to the one 2^k behind it what it has of that one's slice and of up to 2^k - 1 after it, and adds what comes from the
// one 2^k before to its own and those after. Cost: ceil(log2 p) α + (p - 1)/p n (β + γ), of any number of ranks. Each
// rank waits for all rounds before: for short rows.
//
// Members are combined in the order of a ring, another one for each slice: for operations that commute.
#include <algorithm>
#include <bit>
#include <deque>

#include "collectives/algorithm/rows.hpp"
#include "collectives/algorithm/scratch.hpp"

namespace margay::collectives {

Steps reduce_scatter_exchange(Collective& collective, Members members, portals::Region row,
                              std::span<const Slice> slices, std::size_t element_bytes, Reducer combine) {
  const SlicedRow sliced(row, element_bytes, slices);
  const std::size_t size = members.size();
  const std::size_t me = members.me();
  if (size == 1) co_return;
  std::deque<PieceTable> runs;  // stay until all is taken
  Scratch scratch(collective, row.bytes());
  for (std::size_t distance = std::bit_floor(size - 1); distance > 0; distance /= 2) {
    const std::size_t count = std::min(distance, size - distance);
    const std::size_t behind = (me + distance) % size;
    const PieceTable& theirs = runs.emplace_back(sliced.ring_run(behind, count));
    const PieceTable& mine = runs.emplace_back(sliced.ring_run(me, count));
    const portals::Region incoming(scratch.base(), mine.region().bytes());
    Receive previous(collective, members.rank_of((me + size - distance) % size), incoming);
    co_await Send(collective, members.rank_of(behind), theirs.region());
    co_await previous;
    if (collective.error_class() == MPI_SUCCESS) combine_rows(combine, incoming, mine.region(), element_bytes);
  }
  co_await Flush(collective);
}

}  // namespace margay::collectives
