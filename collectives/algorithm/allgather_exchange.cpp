// Allgather by rounds between partners: in round k each rank has the blocks of the 2^k members from itself on, sends
// them to the one 2^k before it, and gets as many from the one 2^k behind. Cost: ceil(log2 p) α + (p - 1)/p n β, n the
// whole row, of any number of ranks. Each rank waits for all rounds before: for short blocks.
//
// Blocks lie at their final places from the first round on: those of a message, up to two runs of the row and in as
// many pieces as these are, are one combined block.
#include <algorithm>
#include <deque>

#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/rows.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

Steps allgather_exchange(Collective& collective, Members members, portals::Region row, std::span<const Slice> slices,
                         std::size_t element_bytes) {
  const SlicedRow sliced(row, element_bytes, slices);
  const std::size_t size = members.size();
  const std::size_t me = members.me();
  std::deque<PieceTable> runs;  // stay until all is taken
  for (std::size_t distance = 1; distance < size; distance *= 2) {
    const std::size_t count = std::min(distance, size - distance);
    const std::size_t behind = (me + distance) % size;
    const PieceTable& mine = runs.emplace_back(sliced.ring_run(me, count));
    const PieceTable& theirs = runs.emplace_back(sliced.ring_run(behind, count));
    Receive next(collective, members.rank_of(behind), theirs.region());
    co_await Send(collective, members.rank_of((me + size - distance) % size), mine.region());
    co_await next;
  }
  co_await Flush(collective);
}

namespace {

// Two ranks.
Steps swap_blocks(Collective& collective, AllgatherCall call) {
  const int other = 1 - collective.rank();
  const portals::Region mine = place_own_block(collective, call);
  std::byte* const theirs = call.all + static_cast<std::uint64_t>(other) * call.block_bytes;
  co_await Exchange(collective, other, mine.single().base, other, theirs, call.block_bytes);
  co_await Flush(collective);
}

}  // namespace

extern constinit const Row<AllgatherCall> allgather_by_exchange{
    {Algorithm::exchange, [](const Ask& ask) { return ask.facts.ranks == 2; },
     [](const Ask& ask) { return everybody_to_everybody(all_of(ask.facts), ask.n(), false); }},
    [](Collective& collective, const Means& /*means*/, const AllgatherCall& call) {
      return swap_blocks(collective, call);
    }};

}  // namespace margay::collectives
