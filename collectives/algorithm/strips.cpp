// Calls of one node with long data, and allgathers and all-to-alls of any length, through shared memory
// (portal/call_barrier), strip by strip with a barrier after each: each rank writes its next strip, and reads the parts
// that it needs from the others' strips. In a reduction each rank combines its part of each strip directly from the
// others' memory, and writes the result beside its next strip. Cost, p ranks, n bytes of each, strips of m bytes: n/m
// turns of a processor for each rank, one more in a reduction or an allreduce, and no message. (The formulas count the
// additional turn for all operations.) The bytes that a rank moves:
//   allreduce               n β to write; (p - 1)/p n γ, which reads as much; 2 n β for results
//   reduce-scatter          n β to write; (p - 1) times its own block γ, which is n/p if blocks are even
//   allgather, all-to-all   n β to write; p blocks β
//   broadcast               n β, by the root and by each other rank
// It is for ranks that outnumber processors. There, slices by messages would cost each rank p start-ups and ready
// notices, and a turn for each receiver that is not ready.
//
// Parts are combined in the order of ranks, from the last one on, a0 (a1 (a2 a3)), so the operation need not be
// commutative.
#include <algorithm>
#include <cstring>

#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/portal/call_barrier.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

namespace {

// The strips of a vector of `count` elements, at most `most` in each.
struct Strips {
  std::size_t count;
  std::size_t most;
  // At least one, because all members wait at the barrier even for empty data.
  [[nodiscard]] std::size_t number() const { return std::max<std::size_t>((count + most - 1) / most, 1); }
  [[nodiscard]] std::size_t first(std::size_t strip) const { return strip * most; }
  [[nodiscard]] std::size_t length(std::size_t strip) const { return std::min(most, count - first(strip)); }
};

// Combines the same part of all members' strips, at `offset` in each, from the last rank to the first: the result of
// each step is the right operand of the next. `of(member)`: that member's strip.
template <typename Of>
void combine_strips(int ranks, std::uint64_t offset, const Reduction& into, const Of& of) {
  std::memcpy(into.partial, of(ranks - 1) + offset, into.bytes());
  for (int rank = ranks - 1; rank-- > 0;) into.combine(of(rank) + offset, into.partial, into.count);
}

// In place of a root: all ranks need the result of the reduction.
constexpr int kEverybody = -1;

Steps reduce_strips(Collective& collective, Team& team, int root, Reduction is) {
  const Strips strips{is.count, sim::kStripBytes / is.element_bytes};
  const auto me = static_cast<std::size_t>(collective.rank());
  const bool wants = root == kEverybody || root == collective.rank();
  CallBarrier barrier(collective, team, is.bytes());
  // There is one barrier more than there are strips. In each step the members write a strip and combine the previous
  // one; after the step's barrier they read the results of the previous strip.
  for (std::size_t step = 0; step <= strips.number(); ++step) {
    if (step > 0) barrier.next();
    std::uint64_t shown = 0;
    if (step < strips.number()) {
      shown = strips.length(step) * is.element_bytes;
      std::memcpy(barrier.mine(), is.partial + strips.first(step) * is.element_bytes, shown);
    }
    std::vector<Slice> slices;  // the ranks' slices of the previous strip
    if (step > 0) {
      slices = even_slices(strips.length(step - 1), collective.size());
      const std::uint64_t bytes = slices[me].count * is.element_bytes;
      if (bytes != 0) {
        combine_strips(collective.size(), slices[me].first * is.element_bytes,
                       {barrier.mine() + sim::kStripBytes, slices[me].count, is.element_bytes, is.combine},
                       [&](int rank) { return barrier.earlier(rank, bytes); });
      }
      shown += bytes;
    }
    barrier.arrive_and_open(shown);
    co_await barrier;
    if (collective.error_class() != MPI_SUCCESS) co_return;
    if (step == 0 || !wants) continue;
    std::byte* const strip = is.partial + strips.first(step - 1) * is.element_bytes;
    for (int rank = 0; rank < collective.size(); ++rank) {
      const Slice& slice = slices[static_cast<std::size_t>(rank)];
      const std::uint64_t bytes = slice.count * is.element_bytes;
      if (bytes == 0) continue;
      std::memcpy(strip + slice.first * is.element_bytes, barrier.part(rank, bytes) + sim::kStripBytes, bytes);
    }
  }
}

Steps reduce_scatter_strips(Collective& collective, Team& team, ReduceScatterCall call) {
  const Reduction& is = call.reduction;
  const std::vector<Slice> slices = slices_of(call, collective.size());
  const Strips strips{is.count, sim::kStripBytes / is.element_bytes};
  const std::size_t number = strips.number();
  // Each strip has an equal share of every rank's slice, in whole elements, so a strip may be longer than kStripBytes
  // by one element for each rank. A member's area has room for two strips.
  MARGAY_ASSERT(slices.size() <= strips.most);
  const auto part_of = [number](const Slice& slice, std::size_t strip) {
    const std::size_t each = slice.count / number, more = slice.count % number;
    const std::size_t first = each * strip + more * strip / number;
    return Slice{slice.first + first, each * (strip + 1) + more * (strip + 1) / number - first};
  };
  const auto me = static_cast<std::size_t>(collective.rank());
  CallBarrier barrier(collective, team, is.bytes());
  for (std::size_t strip = 0; strip < number; ++strip) {
    if (strip > 0) barrier.next();
    std::uint64_t shown = 0, offset = 0;  // offset: of this rank's part in each member's strip
    for (std::size_t rank = 0; rank < slices.size(); ++rank) {
      if (rank == me) offset = shown;
      const Slice part = part_of(slices[rank], strip);
      const std::uint64_t bytes = part.count * is.element_bytes;
      if (bytes != 0) std::memcpy(barrier.mine() + shown, is.partial + part.first * is.element_bytes, bytes);
      shown += bytes;
    }
    barrier.arrive_and_open(shown);
    co_await barrier;
    if (collective.error_class() != MPI_SUCCESS) co_return;
    const Slice mine = part_of(slices[me], strip);
    if (mine.count == 0) continue;
    const Reduction into{is.partial + mine.first * is.element_bytes, mine.count, is.element_bytes, is.combine};
    combine_strips(collective.size(), offset, into, [&](int rank) { return barrier.part(rank, into.bytes()); });
  }
}

Steps bcast_strips(Collective& collective, Team& team, int root, portals::Region data) {
  const Strips strips{data.bytes(), sim::kStripBytes};
  CallBarrier barrier(collective, team, data.bytes());
  for (std::size_t strip = 0; strip < strips.number(); ++strip) {
    if (strip > 0) barrier.next();
    const std::uint64_t bytes = strips.length(strip);
    const portals::Region piece = data.slice(strips.first(strip), bytes);
    const bool shows = collective.rank() == root;
    if (shows) portals::copy(portals::Region(barrier.mine(), bytes), piece);
    barrier.arrive_and_open(shows ? bytes : 0);
    co_await barrier;
    if (collective.error_class() != MPI_SUCCESS) co_return;
    // Region has no read-only form; this region is only read.
    if (!shows) portals::copy(piece, portals::Region(const_cast<std::byte*>(barrier.part(root, bytes)), bytes));
  }
}

bool can_use_strips(const CallFacts& call) {
  return call.facts.shared && call.facts.strips;
}

}  // namespace

Steps allgather_strips(Collective& collective, Team& team, AllgatherCall call) {
  if (!place_even_block(collective, call)) co_return;
  const std::uint64_t block_bytes = call.block_bytes;
  const Strips strips{block_bytes, sim::kStripBytes};
  const auto block = [&](int rank) { return call.all + static_cast<std::uint64_t>(rank) * block_bytes; };
  CallBarrier barrier(collective, team, block_bytes);
  for (std::size_t strip = 0; strip < strips.number(); ++strip) {
    if (strip > 0) barrier.next();
    const std::uint64_t first = strips.first(strip), bytes = strips.length(strip);
    if (bytes != 0) std::memcpy(barrier.mine(), block(collective.rank()) + first, bytes);
    barrier.arrive_and_open(bytes);
    co_await barrier;
    if (collective.error_class() != MPI_SUCCESS) co_return;
    for (int step = 1; bytes != 0 && step < collective.size(); ++step) {
      const int rank = (collective.rank() + step) % collective.size();
      std::memcpy(block(rank) + first, barrier.part(rank, bytes), bytes);
    }
  }
}

Steps alltoall_strips(Collective& collective, Team& team, AlltoallCall call) {
  const std::uint64_t block_bytes = call.block_bytes;
  const auto ranks = static_cast<std::uint64_t>(collective.size());
  const Strips strips{block_bytes,
                      std::clamp<std::uint64_t>(block_bytes, 1, std::max<std::uint64_t>(sim::kStripBytes / ranks, 1))};
  if (!call.is_even()) {
    collective.refuse_call();
    co_return;
  }
  CallBarrier barrier(collective, team, block_bytes * ranks);
  for (std::size_t strip = 0; strip < strips.number(); ++strip) {
    if (strip > 0) barrier.next();
    const std::uint64_t first = strips.first(strip), bytes = strips.length(strip);
    for (const PeerMessage& block : call.out) {
      std::byte* const to = barrier.mine() + static_cast<std::uint64_t>(block.peer) * strips.most;
      portals::copy(portals::Region(to, bytes), block.data.slice(first, bytes));
    }
    barrier.arrive_and_open(bytes * ranks);
    co_await barrier;
    if (collective.error_class() != MPI_SUCCESS) co_return;
    for (const PeerMessage& block : call.in) {
      // Region has no read-only form; this region is only read.
      std::byte* const from = const_cast<std::byte*>(barrier.part(block.peer, bytes)) +
                              static_cast<std::uint64_t>(collective.rank()) * strips.most;
      portals::copy(block.data.slice(first, bytes), portals::Region(from, bytes));
    }
  }
}

extern constinit const Row<BcastCall> bcast_by_strips{
    {Algorithm::shared, can_use_strips,
     [](const CallFacts& call) {
       return barriers(call.ranks(), {2 * call.n(), call.ranks() * call.n()}, {0, 0}, barriers_of(call.n()));
     }},
    [](Collective& collective, const Means& means, const BcastCall& call) {
      return bcast_strips(collective, *means.team, call.root, call.data);
    }};
// Each rank combines its part of each strip; the root, or every rank, reads the results.
extern constinit const Row<ReduceCall> reduce_by_strips{
    {Algorithm::shared, can_use_strips,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks(), part = (p - 1) / p * n;
       return barriers(p, {n + 2 * n, p * n + 2 * n}, {part, p * part}, barriers_of(n));
     }},
    [](Collective& collective, const Means& means, const ReduceCall& call) {
      return reduce_strips(collective, *means.team, call.root, call.reduction);
    }};
extern constinit const Row<AllreduceCall> allreduce_by_strips{
    {Algorithm::shared, can_use_strips,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks(), part = (p - 1) / p * n;
       return barriers(p, {3 * n, 3 * p * n}, {part, p * part}, barriers_of(n));
     }},
    [](Collective& collective, const Means& means, const AllreduceCall& call) {
      return reduce_strips(collective, *means.team, kEverybody, call.reduction);
    }};
extern constinit const Row<ReduceScatterCall> reduce_scatter_by_strips{
    {Algorithm::shared, can_use_strips,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks(), part = (p - 1) / p * n;
       return barriers(p, {n + n / p, p * n + n}, {part, p * part}, barriers_of(n));
     }},
    [](Collective& collective, const Means& means, const ReduceScatterCall& call) {
      return reduce_scatter_strips(collective, *means.team, call);
    }};
extern constinit const Row<AllgatherCall> allgather_by_strips{
    {Algorithm::shared, can_use_strips,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks();
       return barriers(p, {p * n, p * p * n}, {0, 0}, barriers_of(n));
     }},
    [](Collective& collective, const Means& means, const AllgatherCall& call) {
      return allgather_strips(collective, *means.team, call);
    }};
extern constinit const Row<AlltoallCall> alltoall_by_strips{
    {Algorithm::shared, can_use_strips,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks();
       return barriers(p, {2 * p * n, 2 * p * p * n}, {0, 0}, barriers_of(p * n));
     }},
    [](Collective& collective, const Means& means, const AlltoallCall& call) {
      return alltoall_strips(collective, *means.team, call);
    }};

}  // namespace margay::collectives
