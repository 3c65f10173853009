#include "collectives/algorithm/rows.hpp"

namespace margay::collectives {

std::vector<Slice> even_slices(std::size_t count, int ranks) {
  std::vector<Slice> slices;
  const auto all = static_cast<std::size_t>(ranks);
  std::size_t first = 0;
  for (std::size_t rank = 0; rank < all; ++rank) {
    const std::size_t length = count / all + (rank < count % all ? 1 : 0);
    slices.push_back({first, length});
    first += length;
  }
  return slices;
}

void combine_rows(const Reducer& combine, const portals::Region& in, const portals::Region& inout,
                  std::size_t element_bytes) {
  portals::RegionCursor from(in);
  portals::RegionCursor to(inout);
  while (to.left() != 0) {
    const portals::Buffer source = from.peek(to.left());
    const portals::Buffer target = to.peek(source.bytes);
    combine(source.base, target.base, target.bytes / element_bytes);
    from.skip(target.bytes);
    to.skip(target.bytes);
  }
}

}  // namespace margay::collectives
