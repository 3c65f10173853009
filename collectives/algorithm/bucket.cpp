// The bucket algorithms (paper 001, section 3.2, figure 9). The ranks form a ring, and each one streams what it
// received from the rank before it to the next one, piece after piece; a reduction combines the pieces on the way.
// Cost, p ranks, n bytes in all:
//   collect (allgather)   (p - 1) α + (p - 1)/p n β
//   reduce-scatter        the same, and (p - 1)/p n γ
//   allreduce             the sum of both
//   broadcast             a scatter, (p - 1) α + (p - 1)/p n β of the root alone, and a collect
// A piece travels while the next one is combined, so for long vectors nearly all of the combining overlaps. But a rank
// waits for the one before it p - 1 times: where ranks outnumber processors, each time costs a turn.
//
// Parts are combined in the order of the ring, which begins at a different rank for each slice, so the operation must
// commute. All ranks get the same bits, as each slice is combined once.
#include <algorithm>
#include <memory>

#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/portal/stream.hpp"

namespace margay::collectives {

namespace {

// The ring's members, and the pieces into which it cuts the vector, the same on all members.
class Ring {
 public:
  Ring(const Members& members, const SlicedVector& vector) : members_(members), vector_(vector) {}

  // Neighbours, by number.
  [[nodiscard]] std::size_t next() const { return (members_.me() + 1) % members_.size(); }
  [[nodiscard]] std::size_t previous() const { return before(1); }
  // The member `steps` before this one. Requires: steps <= members.
  [[nodiscard]] std::size_t before(std::size_t steps) const {
    return (members_.me() + members_.size() - steps) % members_.size();
  }
  [[nodiscard]] int rank_of(std::size_t member) const { return members_.rank_of(member); }
  [[nodiscard]] std::uint64_t bytes_of(std::size_t member) const { return vector_.bytes_of(member); }

  struct Piece {
    std::uint64_t offset;  // in the vector
    std::uint64_t bytes;
  };
  [[nodiscard]] std::size_t pieces_of(std::size_t member) const {
    return (vector_.slices[member].count + elements() - 1) / elements();
  }
  [[nodiscard]] Piece piece(std::size_t member, std::size_t number) const {
    const std::size_t first = number * elements();
    const Slice& slice = vector_.slices[member];
    return {(slice.first + first) * vector_.element_bytes,
            std::min(elements(), slice.count - first) * vector_.element_bytes};
  }

 private:
  [[nodiscard]] std::size_t elements() const {
    return std::max<std::size_t>(kStreamPieceBytes / vector_.element_bytes, 1);
  }

  Members members_;
  SlicedVector vector_;
};

std::uint64_t bytes_of(const SlicedVector& vector) {
  std::uint64_t bytes = 0;
  for (const Slice& slice : vector.slices) bytes += slice.count * vector.element_bytes;
  return bytes;
}

}  // namespace

Steps collect_bucket(Collective& collective, Members members, SlicedVector vector, int has_all) {
  collective.ask_always();
  const std::uint64_t all = bytes_of(vector);
  if (members.size() == 1 || all == 0) co_return;
  const Ring ring(members, vector);
  std::optional<StreamReceive> in;
  std::optional<StreamSend> out;
  if (static_cast<int>(members.me()) != has_all) {
    in.emplace(collective, ring.rank_of(ring.previous()), vector.region, all - ring.bytes_of(members.me()));
  }
  if (static_cast<int>(ring.next()) != has_all) out.emplace(collective, ring.rank_of(ring.next()));
  if (out) co_await out->opened();
  std::uint64_t here = 0;
  // Step 0 is this rank's own slice; in step k the slice of the k-th rank before it arrives, and is sent on except in
  // the last step.
  for (std::size_t step = 0; step < members.size(); ++step) {
    const std::size_t slice = ring.before(step);
    const bool sends = out && step + 1 < members.size();
    for (std::size_t number = 0; number < ring.pieces_of(slice); ++number) {
      const Ring::Piece piece = ring.piece(slice, number);
      if (step > 0) here += piece.bytes;
      if (in) co_await in->until(here);
      if (sends) out->send(vector.region.slice(piece.offset, piece.bytes), piece.offset);
    }
  }
  co_await Flush(collective);
}

Steps reduce_scatter_bucket(Collective& collective, Members members, SlicedVector vector, Reducer combine) {
  collective.ask_always();
  const std::uint64_t all = bytes_of(vector);
  if (members.size() == 1 || all == 0) co_return;
  const KeptMemory::Run memory = collective.portal().take_memory(all);
  const portals::Region theirs(memory.get(), all);
  const Ring ring(members, vector);
  StreamReceive in(collective, ring.rank_of(ring.previous()), theirs, all - ring.bytes_of(ring.previous()));
  StreamSend out(collective, ring.rank_of(ring.next()));
  co_await out.opened();
  std::uint64_t here = 0;
  // The last slice that this rank sends belongs to the next rank; by then it contains the parts of all ranks except the
  // next one. In the last step this rank's own slice arrives.
  for (std::size_t step = 1; step <= members.size(); ++step) {
    const std::size_t slice = ring.before(step);
    for (std::size_t number = 0; number < ring.pieces_of(slice); ++number) {
      const Ring::Piece piece = ring.piece(slice, number);
      const portals::Region mine = vector.region.slice(piece.offset, piece.bytes);
      if (step > 1) {
        here += piece.bytes;
        co_await in.until(here);
        if (collective.error_class() == MPI_SUCCESS) {
          combine_vectors(combine, theirs.slice(piece.offset, piece.bytes), mine, vector.element_bytes);
        }
      }
      if (step < members.size()) out.send(mine, piece.offset);
    }
  }
  co_await Flush(collective);
}

Steps reduce_scatter_bucket(Collective& collective, Reduction is, std::span<const Slice> slices) {
  return reduce_scatter_bucket(collective, all_members(collective), {is.region(), slices, is.element_bytes},
                               is.combine);
}

Steps allreduce_bucket(Collective& collective, Reduction is) {
  const std::vector<Slice> slices = even_slices(is.count, collective.size());
  co_await reduce_scatter_bucket(collective, is, slices);
  collective.next_phase();
  co_await collect_bucket(collective, all_members(collective), {is.region(), slices, is.element_bytes}, kNoMember);
}

Steps bcast_bucket(Collective& collective, int root, portals::Region data) {
  const std::vector<Slice> slices = even_slices(data.bytes(), collective.size());
  collective.ask_always();
  co_await scatter_among(collective, all_members(collective), static_cast<std::size_t>(root), {data, slices});
  collective.next_phase();
  co_await collect_bucket(collective, all_members(collective), {data, slices}, root);
}

namespace {

Rings ring_of(const CallFacts& call) {
  return {call.ranks(), 1, call.facts.crossings.ring};
}

Steps cut_and_stream(Collective& collective, ReduceScatterCall call) {
  const std::vector<Slice> slices = slices_of(call, collective.size());
  co_await reduce_scatter_bucket(collective, call.reduction, slices);
}

Steps stream_blocks(Collective& collective, AllgatherCall call) {
  static_cast<void>(place_own_block(collective, call));
  const std::vector<Slice> blocks = slices_of(call, collective.size());
  const portals::Region all(call.all, blocks.size() * call.block_bytes);
  co_await collect_bucket(collective, all_members(collective), {all, blocks}, kNoMember);
}

}  // namespace

extern constinit const Row<BcastCall> bcast_by_bucket{
    {Algorithm::bucket, has_bytes_in_any_order,
     [](const CallFacts& call) {
       const double slice = call.n() / call.ranks();
       return deal(call.facts, slice, Dealing::asks_always) +
              ring_round({call.ranks(), 1, call.facts.crossings.chain, 1}, slice, false);
     }},
    [](Collective& collective, const Means& /*means*/, const BcastCall& call) {
      return bcast_bucket(collective, call.root, call.data);
    }};
extern constinit const Row<AllreduceCall> allreduce_by_bucket{
    {Algorithm::bucket, has_bytes_in_any_order,
     [](const CallFacts& call) {
       const double slice = call.n() / call.ranks();
       return ring_round(ring_of(call), slice, true) + ring_round(ring_of(call), slice, false);
     }},
    [](Collective& collective, const Means& /*means*/, const AllreduceCall& call) {
      return allreduce_bucket(collective, call.reduction);
    }};
extern constinit const Row<ReduceScatterCall> reduce_scatter_by_bucket{
    {Algorithm::bucket, has_bytes_in_any_order,
     [](const CallFacts& call) { return ring_round(ring_of(call), call.n() / call.ranks(), true); }},
    [](Collective& collective, const Means& /*means*/, const ReduceScatterCall& call) {
      return cut_and_stream(collective, call);
    }};
extern constinit const Row<AllgatherCall> allgather_by_bucket{
    {Algorithm::bucket, has_bytes_in_any_order,
     [](const CallFacts& call) { return ring_round(ring_of(call), call.n(), false); }},
    [](Collective& collective, const Means& /*means*/, const AllgatherCall& call) {
      return stream_blocks(collective, call);
    }};

}  // namespace margay::collectives
