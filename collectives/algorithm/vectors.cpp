#include "collectives/algorithm/vectors.hpp"

namespace margay::collectives {

std::vector<Slice> even_slices(std::size_t count, int ranks) {
  std::vector<Slice> slices;
  const auto all = static_cast<std::size_t>(ranks);
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < all; ++rank) {
    // The first count % all ranks get one element more.
    const std::size_t length = count / all + (rank < count % all ? 1 : 0);
    slices.push_back({first, length});
    first += length;
  }
  return slices;
}

// Walks both regions, whose pieces need not begin at the same offsets.
void combine_vectors(const Reducer& combine, const portals::Region& in, const portals::Region& inout,
                     std::size_t element_bytes) {
  portals::RegionCursor from(in);
  portals::RegionCursor to(inout);
  while (to.left() != 0) {
    const portals::Buffer source = from.peek(to.left());
    // The largest run that is contiguous in both.
    const portals::Buffer target = to.peek(source.bytes);
    combine(source.base, target.base, target.bytes / element_bytes);
    from.skip(target.bytes);
    to.skip(target.bytes);
  }
}

std::vector<Slice> slices_of(const ReduceScatterCall& call, int ranks) {
  std::vector<Slice> slices;
  std::size_t first = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    slices.push_back({first, call.block_bytes(rank) / call.reduction.element_bytes});
    first += slices.back().count;
  }
  return slices;
}

std::vector<Slice> slices_of(const AllgatherCall& call, int ranks) {
  std::vector<Slice> slices;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank) {
    slices.push_back({rank * call.block_bytes, call.block_bytes});
  }
  return slices;
}

portals::Region place_own_block(Collective& collective, const AllgatherCall& call) {
  const auto me = static_cast<std::size_t>(collective.rank());
  const portals::Region slot(call.all + me * call.block_bytes, call.block_bytes);
  put_own_block(collective, slot, call.mine);
  return slot;
}

bool place_even_block(Collective& collective, const AllgatherCall& call) {
  static_cast<void>(place_own_block(collective, call));
  if (call.mine.bytes() == call.block_bytes) return true;
  // The other members would read this block as one of block_bytes bytes, so the call cannot go on.
  collective.refuse_call();
  return false;
}

}  // namespace margay::collectives
