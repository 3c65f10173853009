// Rounds between partners: in each, ranks a power of two apart exchange what they have.
#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <utility>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

// Barrier by dissemination: in round k each rank notifies the one 2^k above it, and waits for the one 2^k below. After
// the last round each rank has waited, directly or through others, for all ranks. Cost: ceil(log2 p) α. A barrier along
// a tree, in and out again, takes twice that time, but here each round has p messages. So dissemination is for ranks
// that have a processor each.
Steps barrier_exchange(Collective& collective) {
  const int size = collective.size();
  const int rank = collective.rank();
  for (int distance = 1; distance < size; distance *= 2) {
    const int above = rank + distance < size ? rank + distance : rank + distance - size;
    const int below = rank >= distance ? rank - distance : rank - distance + size;
    co_await Exchange(collective, above, nullptr, below, nullptr, 0);
  }
}

namespace {

Cost dissemination(const CallFacts& call) {
  const Facts& facts = call.facts;
  Cost cost;
  if (facts.ranks == 1) return cost;
  const double rounds = rounds_of(facts.ranks);
  const Crossing& between = facts.crossings.rounds;
  add_sent(cost, {rounds * facts.ranks, between.messages}, {});
  add_path(cost, {rounds, static_cast<double>(between.steps)}, {});
  return cost;
}

}  // namespace

extern constinit const Row<BarrierCall> barrier_by_exchange{
    {Algorithm::exchange, always, dissemination},
    [](Collective& collective, const Means& /*means*/, const BarrierCall& /*call*/) {
      return barrier_exchange(collective);
    }};

// Allreduce by recursive doubling: in round k partners 2^k apart exchange their parts and both combine them. If p is
// not a power of two, the first odd ranks send their part to a neighbour before the rounds, and receive the result
// after them. Cost: floor(log2 p) (α + n β + n γ), and 2 (α + n β) + n γ more unless p is a power of two. For short
// data, and ranks that have a processor each.
//
// Every rank gets the same bits: partners hold neighbouring ranges of ranks, and both compute lower op upper, with the
// operands in that order, on the same bits. So the order of ranks is kept, and the operation need not be commutative.
namespace {

// Two buffers: this rank's part, and the partner's.
struct Halves {
  const Collective& collective;
  const Reduction& is;
  std::byte* mine;
  std::byte* theirs;

  // Swaps the buffers if needed, because `combine` leaves the result in its right operand.
  void combine_with(bool theirs_is_lower) {
    if (!theirs_is_lower) std::swap(mine, theirs);
    if (is.bytes() != 0 && collective.error_class() == MPI_SUCCESS) is.combine(theirs, mine, is.count);
  }
};

}  // namespace

Steps allreduce_exchange_among(Collective& collective, Members members, Reduction is) {
  const int size = static_cast<int>(members.size());
  const int rank = static_cast<int>(members.me());
  if (size == 1) co_return;
  const auto member = [&](int number) { return members.rank_of(static_cast<std::size_t>(number)); };
  const int whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  // Among the members with numbers below `paired`, each odd one is represented by the even one before it.
  const int paired = 2 * (size - whole);
  const std::uint64_t bytes = is.bytes();
  Scratch scratch(collective, bytes);
  Halves halves{collective, is, is.partial, scratch.base()};
  if (rank < paired && rank % 2 == 1) {
    const int partner = member(rank - 1);
    co_await Exchange(collective, partner, halves.mine, partner, halves.theirs, bytes);
    co_await Flush(collective);
    std::swap(halves.mine, halves.theirs);
  } else {
    if (rank < paired) {
      co_await Receive(collective, member(rank + 1), portals::Region(halves.theirs, bytes));
      // The odd rank above: its part is the upper one.
      halves.combine_with(false);
    }
    const int me = rank < paired ? rank / 2 : rank - paired / 2;
    for (int distance = 1; distance < whole; distance *= 2) {
      const int other = me ^ distance;
      const int partner = member(2 * other < paired ? 2 * other : other + paired / 2);
      co_await Exchange(collective, partner, halves.mine, partner, halves.theirs, bytes);
      co_await Flush(collective);  // the next step overwrites what was sent
      halves.combine_with(other < me);
    }
    if (rank < paired) co_await Send(collective, member(rank + 1), portals::Region(halves.mine, bytes));
    co_await Flush(collective);
  }
  if (halves.mine != is.partial && bytes != 0) std::memcpy(is.partial, halves.mine, bytes);
}

Steps allreduce_exchange(Collective& collective, Reduction is) {
  return allreduce_exchange_among(collective, all_members(collective), is);
}

extern constinit const Row<AllreduceCall> allreduce_by_exchange{
    {Algorithm::exchange, always,
     [](const CallFacts& call) {
       return doubling({call.facts.ranks, 1, call.facts.crossings.doubling}, call.n(), false);
     }},
    [](Collective& collective, const Means& /*means*/, const AllreduceCall& call) {
      return allreduce_exchange(collective, call.reduction);
    }};

// Scan and exclusive scan by recursive doubling: in round k partners 2^k apart exchange the combination of their ranges
// of ranks. The partner with the upper range adds the lower range to its result. Both partners then have the
// combination of both ranges. Cost: ceil(log2 p) (α + n β + 2 n γ).
//
// Ranges are combined in the order of ranks, so the operation need not be commutative. The bracketing depends on the
// rank alone, so a repeated call has the same result.
Steps scan_exchange(Collective& collective, ScanCall call) {
  const Reduction& is = call.reduction;
  const int size = collective.size();
  const int rank = collective.rank();
  const std::uint64_t bytes = is.bytes();
  Scratch first(collective, bytes);
  Scratch second(collective, bytes);
  std::byte* range = first.base();  // the combination of this rank's range
  std::byte* theirs = second.base();
  bool has_result = call.kind == ScanKind::inclusive;
  if (bytes != 0) std::memcpy(range, is.partial, bytes);
  for (int distance = 1; distance < size; distance *= 2) {
    const int partner = rank ^ distance;
    if (partner >= size) continue;
    co_await Exchange(collective, partner, range, partner, theirs, bytes);
    co_await Flush(collective);  // the next step overwrites what was sent
    if (bytes == 0 || collective.error_class() != MPI_SUCCESS) continue;
    if (partner > rank) {
      // The result lands in the partner's buffer, which becomes this rank's range.
      is.combine(range, theirs, is.count);
      std::swap(range, theirs);
      continue;
    }
    // The lower range is a part of this rank's result. In an exclusive scan the first such range is the whole result so
    // far.
    if (has_result) {
      is.combine(theirs, is.partial, is.count);
    } else {
      std::memcpy(is.partial, theirs, bytes);
    }
    has_result = true;
    is.combine(theirs, range, is.count);
  }
}

namespace {

// In each pair, the rank with the upper range combines twice and the other one once.
Cost scan_rounds(const CallFacts& call) {
  const Facts& facts = call.facts;
  const double n = call.n();
  Cost cost;
  if (facts.ranks == 1) return cost;
  const double rounds = rounds_of(facts.ranks);
  const double each = messages_of(n);
  const double bodies = scan_partners(facts.ranks);
  const Crossing& between = facts.crossings.partners;
  add_sent(cost, {each * bodies, each * between.messages}, {bodies * n, between.messages * n});
  add_path(cost, {each * rounds, each * between.steps},
           {((rounds - between.steps) * kBothWays + between.steps) * n, between.steps * n});
  cost.path.combined_bytes = 2 * rounds * n;
  cost.all.combined_bytes = 1.5 * bodies * n;
  return cost;
}

}  // namespace

extern constinit const Row<ScanCall> scan_by_exchange{
    {Algorithm::exchange, always, scan_rounds},
    [](Collective& collective, const Means& /*means*/, const ScanCall& call) {
      return scan_exchange(collective, call);
    }};

// Allgather by rounds: in round k each rank has the blocks of the 2^k members from itself on. It sends these blocks to
// the member 2^k before it, and receives as many from the member 2^k after it. Cost: ceil(log2 p) α + (p - 1)/p n β, n
// the whole vector, for any number of ranks. It is for short blocks, because in each round a rank waits for all rounds
// before.
//
// Each block is received at its final place. The blocks of a message are one or two runs of the vector, and one
// combined block describes all their pieces.
Steps allgather_exchange(Collective& collective, Members members, SlicedVector vector) {
  const std::size_t size = members.size();
  const std::size_t me = members.me();
  std::deque<PieceTable> runs;  // must stay until the wires have taken all messages
  for (std::size_t distance = 1; distance < size; distance *= 2) {
    const std::size_t count = std::min(distance, size - distance);
    const std::size_t behind = (me + distance) % size;
    const PieceTable& mine = runs.emplace_back(ring_run(vector, me, count));
    const PieceTable& theirs = runs.emplace_back(ring_run(vector, behind, count));
    Receive next(collective, members.rank_of(behind), theirs.region());
    co_await Send(collective, members.rank_of((me + size - distance) % size), mine.region());
    co_await next;
  }
  co_await Flush(collective);
}

namespace {

// The allgather of two ranks, which needs no tables of pieces.
Steps swap_blocks(Collective& collective, AllgatherCall call) {
  const int other = 1 - collective.rank();
  const portals::Region mine = place_own_block(collective, call);
  std::byte* const theirs = call.all + static_cast<std::uint64_t>(other) * call.block_bytes;
  co_await Exchange(collective, other, mine.single().base, other, theirs, call.block_bytes);
  co_await Flush(collective);
}

}  // namespace

extern constinit const Row<AllgatherCall> allgather_by_exchange{
    {Algorithm::exchange, [](const CallFacts& call) { return call.facts.ranks == 2; },
     [](const CallFacts& call) { return all_to_all_in_groups(all_of(call.facts), call.n(), false); }},
    [](Collective& collective, const Means& /*means*/, const AllgatherCall& call) {
      return swap_blocks(collective, call);
    }};

// Reduce-scatter by the rounds of allgather_exchange, backwards. In the round of distance 2^k each rank sends the rank
// 2^k after it the parts of up to 2^k slices, beginning with the receiver's own slice. It adds the parts that it
// receives from the rank 2^k before to its own parts of as many slices, beginning with its own slice. Cost: ceil(log2
// p) α + (p - 1)/p n (β + γ), for any number of ranks. It is for short vectors, because in each round a rank waits for
// all rounds before.
//
// Members are combined in the order of a ring that begins at a different member for each slice, so the operation must
// commute.
Steps reduce_scatter_exchange(Collective& collective, Members members, SlicedVector vector, Reducer combine) {
  const std::size_t size = members.size();
  const std::size_t me = members.me();
  if (size == 1) co_return;
  std::deque<PieceTable> runs;  // must stay until the wires have taken all messages
  Scratch scratch(collective, vector.region.bytes());
  for (std::size_t distance = std::bit_floor(size - 1); distance > 0; distance /= 2) {
    const std::size_t count = std::min(distance, size - distance);
    const std::size_t behind = (me + distance) % size;
    const PieceTable& theirs = runs.emplace_back(ring_run(vector, behind, count));
    const PieceTable& mine = runs.emplace_back(ring_run(vector, me, count));
    const portals::Region incoming(scratch.base(), mine.region().bytes());
    Receive previous(collective, members.rank_of((me + size - distance) % size), incoming);
    co_await Send(collective, members.rank_of(behind), theirs.region());
    co_await previous;
    if (collective.error_class() == MPI_SUCCESS)
      combine_vectors(combine, incoming, mine.region(), vector.element_bytes);
  }
  co_await Flush(collective);
}

}  // namespace margay::collectives
