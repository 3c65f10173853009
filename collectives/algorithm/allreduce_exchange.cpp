// Allreduce by recursive doubling: in round k partners 2^k apart exchange what they have and both combine it. Of p
// ranks that are not a power of two, the first give their part to a neighbour before and get the result after. Cost:
// log2 p (α + n β + n γ), and 2 (α + n β) + n γ more when p is no power of two. For short data, and ranks that have a
// processor each.
//
// Every rank ends with the same bits: partners hold neighbouring ranges of ranks, and both compute lower op upper, with
// the operands in that order, on the same bits. So the order of ranks is kept, and the operation need not be
// commutative.
#include <bit>
#include <cstring>
#include <utility>

#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/rows.hpp"
#include "collectives/algorithm/scratch.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

namespace {

// Two buffers: what this rank has, and what comes.
struct Halves {
  const Collective& collective;
  const Reducer& combine;
  std::size_t count;
  std::uint64_t bytes;
  std::byte* mine;
  std::byte* theirs;

  // The result may be in the other buffer: `combine` leaves it where its right operand was.
  void combine_with(bool theirs_is_lower) {
    if (!theirs_is_lower) std::swap(mine, theirs);
    if (bytes != 0 && collective.error_class() == MPI_SUCCESS) combine(theirs, mine, count);
  }
};

}  // namespace

Steps allreduce_exchange_among(Collective& collective, Members members, std::byte* partial, std::size_t count,
                               std::size_t element_bytes, Reducer combine) {
  const int size = static_cast<int>(members.size());
  const int rank = static_cast<int>(members.me());
  if (size == 1) co_return;
  const auto member = [&](int number) { return members.rank_of(static_cast<std::size_t>(number)); };
  const int whole = static_cast<int>(std::bit_floor(static_cast<unsigned>(size)));
  const int paired = 2 * (size - whole);  // of the members below, each odd one is played by the even one before it
  const std::uint64_t bytes = count * element_bytes;
  Scratch scratch(collective, bytes);
  Halves halves{collective, combine, count, bytes, partial, scratch.base()};
  if (rank < paired && rank % 2 == 1) {
    const int partner = member(rank - 1);
    co_await Exchange(collective, partner, halves.mine, partner, halves.theirs, bytes);
    co_await Flush(collective);
    std::swap(halves.mine, halves.theirs);
  } else {
    if (rank < paired) {
      co_await Receive(collective, member(rank + 1), portals::Region(halves.theirs, bytes));
      halves.combine_with(false);
    }
    const int me = rank < paired ? rank / 2 : rank - paired / 2;
    for (int distance = 1; distance < whole; distance *= 2) {
      const int other = me ^ distance;
      const int partner = member(2 * other < paired ? 2 * other : other + paired / 2);
      co_await Exchange(collective, partner, halves.mine, partner, halves.theirs, bytes);
      co_await Flush(collective);  // what was sent is about to be overwritten
      halves.combine_with(other < me);
    }
    if (rank < paired) co_await Send(collective, member(rank + 1), portals::Region(halves.mine, bytes));
    co_await Flush(collective);
  }
  if (halves.mine != partial && bytes != 0) std::memcpy(partial, halves.mine, bytes);
}

Steps allreduce_exchange(Collective& collective, std::byte* partial, std::size_t count, std::size_t element_bytes,
                         Reducer combine) {
  return allreduce_exchange_among(collective, everybody(collective), partial, count, element_bytes, combine);
}

extern constinit const Row<AllreduceCall> allreduce_by_exchange{
    {Algorithm::exchange, always,
     [](const Ask& ask) {
       return doubling({ask.facts.ranks, 1, ask.facts.crossings.doubling}, ask.n(), false);
     }},
    [](Collective& collective, const Means& /*means*/, const AllreduceCall& call) {
      return allreduce_exchange(collective, call.reduction.partial, call.reduction.count, call.reduction.element_bytes,
                                call.reduction.combine);
    }};

}  // namespace margay::collectives
