// Rows of elements, in one run of memory or in pieces, that some ranks cut among them: what algorithms by slices share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/piece_table.hpp"

namespace margay::collectives {

[[nodiscard]] inline Members everybody(const Collective& collective) {
  return Members::everybody(collective.size(), collective.rank());
}

// Each rank's part of the row, one behind the other.
[[nodiscard]] std::vector<Slice> slices_of(const ReduceScatterCall& call, int ranks);
// Puts this rank's block where it has its place in the result: there.
portals::Region place_own_block(Collective& collective, const AllgatherCall& call);

class SlicedRow {
 public:
  SlicedRow(portals::Region row, std::size_t element_bytes, std::span<const Slice> slices)
      : row_(row), element_bytes_(element_bytes), slices_(slices) {}
  [[nodiscard]] portals::Region of(std::size_t member) const {
    const Slice& slice = slices_[member];
    return row_.slice(slice.first * element_bytes_, slice.count * element_bytes_);
  }
  // The slices of `count` members from number `first` on, where the first comes after the last.
  [[nodiscard]] PieceTable ring_run(std::size_t first, std::size_t count) const {
    PieceTable run;
    for (std::size_t at = first; at < first + count; ++at) run.add(of(at % slices_.size()));
    return run;
  }

 private:
  portals::Region row_;
  std::size_t element_bytes_;
  std::span<const Slice> slices_;
};

// A row at `base`, as long as slices that lie one behind the other.
[[nodiscard]] inline portals::Region whole_row(std::byte* base, std::span<const Slice> slices,
                                               std::size_t element_bytes) {
  return portals::Region(base, (slices.back().first + slices.back().count) * element_bytes);
}

// In step n every member sends to the n-th one behind it: nobody is the target of all at once. visit(to, from), numbers
// of members.
template <typename Visit>
void for_each_step(const Members& members, Visit visit) {
  const std::size_t size = members.size();
  for (std::size_t step = 1; step < size; ++step) {
    visit((members.me() + step) % size, (members.me() + size - step) % size);
  }
}

// inout = in op inout, of the same length; their pieces are whole elements.
void combine_rows(const Reducer& combine, const portals::Region& in, const portals::Region& inout,
                  std::size_t element_bytes);

}  // namespace margay::collectives
