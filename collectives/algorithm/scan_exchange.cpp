// Scan and exclusive scan by recursive doubling: in round k partners 2^k apart exchange what their ranges of ranks come
// to. Who has the upper range adds the lower one to its result; both have the range of both then. Cost:
// ceil(log2 p) (α + n β + 2 n γ).
//
// Ranges are combined in the order of ranks, so the operation need not be commutative; how they are bracketed depends
// on the number of ranks alone.
#include <cstring>
#include <utility>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/scratch.hpp"
#include "collectives/cost/parts.hpp"

namespace margay::collectives {

Steps scan_exchange(Collective& collective, ScanKind kind, std::byte* partial, std::size_t count,
                    std::size_t element_bytes, Reducer combine) {
  const int size = collective.size();
  const int rank = collective.rank();
  const std::uint64_t bytes = count * element_bytes;
  Scratch first(collective, bytes);
  Scratch second(collective, bytes);
  std::byte* range = first.base();  // of the ranks of this one's range
  std::byte* theirs = second.base();
  bool has_result = kind == ScanKind::inclusive;
  if (bytes != 0) std::memcpy(range, partial, bytes);
  for (int distance = 1; distance < size; distance *= 2) {
    const int partner = rank ^ distance;
    if (partner >= size) continue;
    co_await Exchange(collective, partner, range, partner, theirs, bytes);
    co_await Flush(collective);  // what was sent is about to be overwritten
    if (bytes == 0 || collective.error_class() != MPI_SUCCESS) continue;
    if (partner > rank) {
      combine(range, theirs, count);
      std::swap(range, theirs);
      continue;
    }
    if (has_result) {
      combine(theirs, partial, count);
    } else {
      std::memcpy(partial, theirs, bytes);
    }
    has_result = true;
    combine(theirs, range, count);
  }
}

namespace {

// Who has the upper range of ranks combines twice, the other one once.
Cost scan_rounds(const Ask& ask) {
  const Facts& facts = ask.facts;
  const double n = ask.n();
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
      return scan_exchange(collective, call.kind, call.reduction.partial, call.reduction.count,
                           call.reduction.element_bytes, call.reduction.combine);
    }};

}  // namespace margay::collectives
