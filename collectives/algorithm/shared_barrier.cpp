// Calls of one node through shared memory with one barrier (portal/call_barrier): each rank writes its part, the last
// one opens, and all read the parts that they need. For short data on oversubscribed nodes: a rank is scheduled once,
// whatever p is. Cost, p ranks, n bytes of each: one turn of a processor for each rank, no message, 2 n β to write and
// read one part, and in addition
//   allreduce        (p - 1) n γ of the last rank, which combines all parts; the others copy the result
//   reduce-scatter   each rank reads its block of p parts
//   scan             each rank reads the parts of the ranks up to its own
//
// Parts are combined in the order of ranks, from the last one on, a0 (a1 (a2 a3)), so the operation need not be
// commutative.
#include <cstring>

#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/vectors.hpp"
#include "collectives/cost/parts.hpp"
#include "collectives/portal/call_barrier.hpp"

namespace margay::collectives {

namespace {

// A part is as long as the longest short message. So a member that makes the call with long messages sends "ready"
// notices or offers, which the members at the barrier detect.
static_assert(sim::kBarrierPartBytes == kHandshakeBytes);

// Combines the blocks at `offset` of all parts, from the last rank's to the first's: each step leaves its result in the
// next one's right operand.
void combine_parts(CallBarrier& barrier, int ranks, const Reduction& into, std::uint64_t offset = 0) {
  const std::uint64_t bytes = into.bytes();
  std::memcpy(into.partial, barrier.part(ranks - 1, bytes) + offset, bytes);
  for (int rank = ranks - 1; rank-- > 0;) into.combine(barrier.part(rank, bytes) + offset, into.partial, into.count);
}

void show(CallBarrier& barrier, const std::byte* data, std::uint64_t bytes) {
  if (bytes != 0) std::memcpy(barrier.mine(), data, bytes);
}

Steps barrier_by_barrier(Collective& collective, Team& team) {
  CallBarrier barrier(collective, team, 0);
  barrier.arrive_and_open(0);
  co_await barrier;
}

Steps allreduce_by_barrier(Collective& collective, Team& team, Reduction is) {
  const std::uint64_t bytes = is.bytes();
  CallBarrier barrier(collective, team, bytes);
  show(barrier, is.partial, bytes);
  if (barrier.arrive(bytes)) {
    if (collective.error_class() == MPI_SUCCESS && bytes != 0) {
      combine_parts(barrier, collective.size(), is);
      show(barrier, is.partial, bytes);
    }
    // Also after an error: the others wait for the opening, and find the error with it.
    barrier.open();
    co_return;
  }
  co_await barrier;
  if (collective.error_class() == MPI_SUCCESS && bytes != 0)
    std::memcpy(is.partial, barrier.part(barrier.opener(), bytes), bytes);
}

Steps scan_by_barrier(Collective& collective, Team& team, ScanCall call) {
  const std::uint64_t bytes = call.reduction.bytes();
  CallBarrier barrier(collective, team, bytes);
  show(barrier, call.reduction.partial, bytes);
  barrier.arrive_and_open(bytes);
  co_await barrier;
  const int parts = collective.rank() + (call.kind == ScanKind::inclusive ? 1 : 0);
  if (collective.error_class() != MPI_SUCCESS || bytes == 0 || parts == 0) co_return;
  combine_parts(barrier, parts, call.reduction);
}

Steps reduce_scatter_by_barrier(Collective& collective, Team& team, ReduceScatterCall call) {
  const Reduction& is = call.reduction;
  const std::vector<Slice> slices = slices_of(call, collective.size());
  CallBarrier barrier(collective, team, is.bytes());
  show(barrier, is.partial, is.bytes());
  barrier.arrive_and_open(is.bytes());
  co_await barrier;
  const Slice& mine = slices[static_cast<std::size_t>(collective.rank())];
  if (collective.error_class() != MPI_SUCCESS || mine.count == 0) co_return;
  const std::uint64_t offset = mine.first * is.element_bytes;
  combine_parts(barrier, collective.size(), {is.partial + offset, mine.count, is.element_bytes, is.combine}, offset);
}

bool part_fits(const CallFacts& call) {
  return call.facts.shared && call.bytes <= sim::kBarrierPartBytes;
}
bool blocks_fit_part(const CallFacts& call) {
  return call.facts.shared && call.blocks_bytes() <= sim::kBarrierPartBytes;
}

}  // namespace

extern constinit const Row<BarrierCall> barrier_by_shared_barrier{
    {Algorithm::shared, part_fits,
     [](const CallFacts& call) {
       return barriers(call.ranks(), {0, 0}, {0, 0});
     }},
    [](Collective& collective, const Means& means, const BarrierCall& /*call*/) {
      return barrier_by_barrier(collective, *means.team);
    }};
// The last rank combines all parts, and shows the result.
extern constinit const Row<AllreduceCall> allreduce_by_shared_barrier{
    {Algorithm::shared, part_fits,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks();
       return barriers(p, {2 * n, 2 * p * n}, {(p - 1) * n, (p - 1) * n});
     }},
    [](Collective& collective, const Means& means, const AllreduceCall& call) {
      return allreduce_by_barrier(collective, *means.team, call.reduction);
    }};
extern constinit const Row<ReduceScatterCall> reduce_scatter_by_shared_barrier{
    {Algorithm::shared, part_fits,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks();
       return barriers(p, {2 * n, 2 * p * n}, {(p - 1) / p * n, (p - 1) * n});
     }},
    [](Collective& collective, const Means& means, const ReduceScatterCall& call) {
      return reduce_scatter_by_barrier(collective, *means.team, call);
    }};
extern constinit const Row<ScanCall> scan_by_shared_barrier{
    {Algorithm::shared, part_fits,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks();
       return barriers(p, {(p + 1) * n, p * n + p * (p + 1) / 2 * n}, {(p - 1) * n, p * (p - 1) / 2 * n});
     }},
    [](Collective& collective, const Means& means, const ScanCall& call) {
      return scan_by_barrier(collective, *means.team, call);
    }};
// One strip is one barrier.
extern constinit const Row<AllgatherCall> allgather_by_shared_barrier{
    {Algorithm::shared, part_fits,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks();
       return barriers(p, {p * n, p * p * n}, {0, 0});
     }},
    [](Collective& collective, const Means& means, const AllgatherCall& call) {
      return allgather_strips(collective, *means.team, call);
    }};
extern constinit const Row<AlltoallCall> alltoall_by_shared_barrier{
    {Algorithm::shared, blocks_fit_part,
     [](const CallFacts& call) {
       const double n = call.n(), p = call.ranks();
       return barriers(p, {(2 * p - 1) * n, p * (2 * p - 1) * n}, {0, 0});
     }},
    [](Collective& collective, const Means& means, const AlltoallCall& call) {
      return alltoall_strips(collective, *means.team, call);
    }};

}  // namespace margay::collectives
