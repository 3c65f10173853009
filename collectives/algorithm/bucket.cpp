// The bucket algorithms (paper 001, section 3.2, figure 9): ranks in a ring, each streams to the next one what it got
// from the one before, piece after piece, and combines it on the way where the operation does. Cost, p ranks, n bytes
// in all: (p - 1) α + (p - 1)/p n β for a collect or, with as much γ, for a reduce-scatter; both for an allreduce; for
// a broadcast (p - 1) α + (p - 1)/p n β more, of the root alone. A piece is on its way while the next one is combined,
// so for long rows nearly all of it overlaps. But a rank waits for the one before it p - 1 times: where ranks outnumber
// processors each time is a turn of one.
//
// Sums are combined in the order of the ring, another one for each slice: for commutative operations. All ranks end
// with the same bits, as each slice is combined once.
#include <algorithm>
#include <memory>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/stream.hpp"

namespace margay::collectives {

namespace {

// The row as the ring cuts it: the same on all.
class Ring {
 public:
  Ring(const Collective& collective, const portals::Region& row, std::span<const Slice> slices,
       std::size_t element_bytes)
      : size_(collective.size()), me_(collective.rank()), row_(row), slices_(slices), element_bytes_(element_bytes) {}

  [[nodiscard]] int next() const { return (me_ + 1) % size_; }
  [[nodiscard]] int previous() const { return (me_ + size_ - 1) % size_; }
  // The rank that is `steps` before this one.
  [[nodiscard]] int before(int steps) const { return ((me_ - steps) % size_ + size_) % size_; }
  [[nodiscard]] std::uint64_t bytes_of(int rank) const { return slice(rank).count * element_bytes_; }
  [[nodiscard]] const portals::Region& row() const { return row_; }

  struct Piece {
    std::uint64_t offset;  // in the row
    std::uint64_t bytes;
    std::size_t count;  // of elements
  };
  [[nodiscard]] std::size_t pieces_of(int rank) const { return (slice(rank).count + elements() - 1) / elements(); }
  [[nodiscard]] Piece piece(int rank, std::size_t number) const {
    const std::size_t first = number * elements();
    const std::size_t count = std::min(elements(), slice(rank).count - first);
    return {(slice(rank).first + first) * element_bytes_, count * element_bytes_, count};
  }

 private:
  [[nodiscard]] const Slice& slice(int rank) const { return slices_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] std::size_t elements() const { return std::max<std::size_t>(kStreamPieceBytes / element_bytes_, 1); }

  int size_;
  int me_;
  portals::Region row_;
  std::span<const Slice> slices_;
  std::size_t element_bytes_;
};

std::uint64_t bytes_of(std::span<const Slice> slices, std::size_t element_bytes) {
  std::uint64_t bytes = 0;
  for (const Slice& slice : slices) bytes += slice.count * element_bytes;
  return bytes;
}

}  // namespace

Steps collect_bucket(Collective& collective, portals::Region row, std::span<const Slice> slices,
                     std::size_t element_bytes, int has_all) {
  collective.ask_always();
  const std::uint64_t all = bytes_of(slices, element_bytes);
  if (collective.size() == 1 || all == 0) co_return;
  const Ring ring(collective, row, slices, element_bytes);
  const int me = collective.rank();
  std::optional<StreamReceive> in;
  std::optional<StreamSend> out;
  if (me != has_all) in.emplace(collective, ring.previous(), row, all - ring.bytes_of(me));
  if (ring.next() != has_all) out.emplace(collective, ring.next());
  if (out) co_await out->opened();
  std::uint64_t here = 0;
  for (int step = 0; step < collective.size(); ++step) {
    const int slice = ring.before(step);
    const bool sends = out && step + 1 < collective.size();
    for (std::size_t number = 0; number < ring.pieces_of(slice); ++number) {
      const Ring::Piece piece = ring.piece(slice, number);
      if (step > 0) here += piece.bytes;
      if (in) co_await in->until(here);
      if (sends) out->send(row.slice(piece.offset, piece.bytes), piece.offset);
    }
  }
  co_await Flush(collective);
}

Steps reduce_scatter_bucket(Collective& collective, std::byte* partial, std::span<const Slice> slices,
                            std::size_t element_bytes, Reducer combine) {
  collective.ask_always();
  const std::uint64_t all = bytes_of(slices, element_bytes);
  if (collective.size() == 1 || all == 0) co_return;
  const KeptMemory::Run theirs = collective.portal().take_memory(all);
  const Ring ring(collective, portals::Region(partial, all), slices, element_bytes);
  StreamReceive in(collective, ring.previous(), portals::Region(theirs.get(), all),
                   all - ring.bytes_of(ring.previous()));
  StreamSend out(collective, ring.next());
  co_await out.opened();
  std::uint64_t here = 0;
  // What is sent last has been combined by all but its own rank: the next one's. Then comes this rank's.
  for (int step = 1; step <= collective.size(); ++step) {
    const int slice = ring.before(step);
    for (std::size_t number = 0; number < ring.pieces_of(slice); ++number) {
      const Ring::Piece piece = ring.piece(slice, number);
      if (step > 1) {
        here += piece.bytes;
        co_await in.until(here);
        if (collective.error_class() == MPI_SUCCESS) {
          combine(theirs.get() + piece.offset, partial + piece.offset, piece.count);
        }
      }
      if (step < collective.size()) out.send(portals::Region(partial + piece.offset, piece.bytes), piece.offset);
    }
  }
  co_await Flush(collective);
}

Steps allreduce_bucket(Collective& collective, std::byte* partial, std::size_t count, std::size_t element_bytes,
                       Reducer combine) {
  const std::vector<Slice> slices = even_slices(count, collective.size());
  co_await reduce_scatter_bucket(collective, partial, slices, element_bytes, combine);
  collective.next_phase();
  co_await collect_bucket(collective, portals::Region(partial, count * element_bytes), slices, element_bytes, kNobody);
}

Steps bcast_bucket(Collective& collective, int root, portals::Region data) {
  const std::vector<Slice> slices = even_slices(data.bytes(), collective.size());
  const auto slice_of = [&](int rank) {
    const Slice& slice = slices[static_cast<std::size_t>(rank)];
    return data.slice(slice.first, slice.count);
  };
  collective.ask_always();
  std::vector<PeerMessage> out, in;
  if (collective.rank() != root) in.push_back({root, slice_of(collective.rank())});
  for (int rank = 0; collective.rank() == root && rank < collective.size(); ++rank) {
    if (rank != root) out.push_back({rank, slice_of(rank)});
  }
  co_await exchange_directly(collective, out, in);
  collective.next_phase();
  co_await collect_bucket(collective, data, slices, 1, root);
}

}  // namespace margay::collectives
