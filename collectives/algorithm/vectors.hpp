// Helpers that algorithms share: memory for one call, cutting vectors among ranks, data in pieces, combining vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/algorithm/algorithms.hpp"
#include "portals/base/region.hpp"

namespace margay::collectives {

// Temporary memory for one call: a short run lies in the caller's coroutine frame, so a short reduction allocates
// nothing; a long one comes from the cache (KeptMemory). Not initialized.
class Scratch {
 public:
  // May throw std::bad_alloc for a long run.
  Scratch(const Collective& collective, std::uint64_t bytes) {
    if (bytes > kInFrameBytes) own_ = collective.portal().take_memory(bytes);
  }
  // The run's address, aligned for any datatype.
  [[nodiscard]] std::byte* base() { return own_.get() != nullptr ? own_.get() : in_frame_.data(); }

 private:
  // Runs up to this length lie in the frame.
  static constexpr std::uint64_t kInFrameBytes = 256;
  alignas(std::max_align_t) std::array<std::byte, kInFrameBytes> in_frame_;  // not initialized
  KeptMemory::Run own_;
};

// All ranks of the call's communicator, in their order.
[[nodiscard]] inline Members all_members(const Collective& collective) {
  return Members::all_members(collective.size(), collective.rank());
}

// The blocks of a reduce-scatter as consecutive slices of elements.
[[nodiscard]] std::vector<Slice> slices_of(const ReduceScatterCall& call, int ranks);
// The blocks of an allgather as slices of bytes.
[[nodiscard]] std::vector<Slice> slices_of(const AllgatherCall& call, int ranks);
// Copies this rank's block to its place in the result, and returns that place.
portals::Region place_own_block(Collective& collective, const AllgatherCall& call);
// The same for a call through shared memory. Returns false if the block has another length: the call is refused.
[[nodiscard]] bool place_even_block(Collective& collective, const AllgatherCall& call);

// A list of pieces of memory that together are one region of data. It refers to the memory, and does not own it.
// Made for each message of a routine, in its frame; a Region of it must not outlive the table.
class PieceTable {
 public:
  // Appends a piece, or extends the last one if the piece lies right behind it.
  void add(portals::Buffer piece) {
    // A region has no empty pieces.
    if (piece.bytes == 0) return;
    if (!pieces_.empty() && pieces_.back().base + pieces_.back().bytes == piece.base) {
      pieces_.back().bytes += piece.bytes;
    } else {
      pieces_.push_back(piece);
    }
  }
  // Appends all pieces of a region.
  void add(const portals::Region& region) {
    portals::RegionCursor cursor(region);
    while (cursor.left() != 0) {
      const portals::Buffer piece = cursor.peek(cursor.left());
      add(piece);
      cursor.skip(piece.bytes);
    }
  }
  // The table as a region. Valid until the table changes or is destroyed.
  [[nodiscard]] portals::Region region() const { return portals::Region(std::span(pieces_)); }

 private:
  // In the order of the data; neighbours that touch are one piece.
  std::vector<portals::Buffer> pieces_;
};

// The slices of `count` members, from member `first` on; member 0 follows the last one.
[[nodiscard]] inline PieceTable ring_run(const SlicedVector& vector, std::size_t first, std::size_t count) {
  PieceTable run;
  // At most two runs of memory, if the vector is one run.
  for (std::size_t at = first; at < first + count; ++at) run.add(vector.of(at % vector.slices.size()));
  return run;
}

// Visits the partners of this member in an exchange. In step n every member sends to the n-th member after it and
// receives from the n-th before it, so no member is the target of all others at once. visit(to, from) gets numbers of
// members.
template <typename Visit>
void for_each_step(const Members& members, Visit visit) {
  const std::size_t size = members.size();
  for (std::size_t step = 1; step < size; ++step) {
    visit((members.me() + step) % size, (members.me() + size - step) % size);
  }
}

// Sets inout = in op inout for two regions of equal length, whose pieces are whole elements. The pieces of both may end
// at different elements.
void combine_vectors(const Reducer& combine, const portals::Region& in, const portals::Region& inout,
                     std::size_t element_bytes);

}  // namespace margay::collectives
