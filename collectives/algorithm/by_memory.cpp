// Calls through memory that all ranks of a node see: by what each posts (posted, posted_by_all), by a meeting (shared),
// or strip by strip (strips), as the length and the company say. Cost: of which it is.
#include "collectives/algorithm/row.hpp"
#include "collectives/algorithm/rows.hpp"
#include "collectives/cost/memory.hpp"
#include "collectives/portal/post.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::collectives {

namespace {

// What is shown to others in memory is short, too: ranks that take the call for a long one ask or offer, which those
// that wait in memory hear.
static_assert(sim::kMeetingPartBytes == kHandshakeBytes);

// What a rank shows fits into its part of a meeting, or of a posting.
bool fits_meeting(std::uint64_t shown) {
  return shown <= sim::kMeetingPartBytes;
}
bool fits_posting(std::uint64_t shown) {
  return shown <= kPostedBytes;
}
bool strips_are_there(const Ask& ask) {
  return ask.facts.strips;
}
bool meets(const Ask& ask) {
  return ask.facts.shared && (fits_meeting(ask.bytes) || ask.facts.strips);
}

// Strip by strip: each rank combines its part of each, and reads what the others' come to.
Cost strips_cost(Operation operation, double n, double p) {
  const double part = (p - 1) / p * n;
  switch (operation) {
    case Operation::allreduce:
      return meet(p, {3 * n, 3 * p * n}, {part, p * part}, meetings_of(n));
    case Operation::reduce:
      return meet(p, {n + 2 * n, p * n + 2 * n}, {part, p * part}, meetings_of(n));
    case Operation::reduce_scatter:
      return meet(p, {n + n / p, p * n + n}, {part, p * part}, meetings_of(n));
    case Operation::allgather:
      return meet(p, {p * n, p * p * n}, {0, 0}, meetings_of(n));
    case Operation::alltoall:
      return meet(p, {2 * p * n, 2 * p * p * n}, {0, 0}, meetings_of(p * n));
    default:
      return meet(p, {2 * n, p * n}, {0, 0}, meetings_of(n));
  }
}

// Who comes last in an allreduce combines all of it, and shows the result.
Cost parts_cost(Operation operation, double n, double p) {
  switch (operation) {
    case Operation::barrier:
      return meet(p, {0, 0}, {0, 0});
    case Operation::allreduce:
      return meet(p, {2 * n, 2 * p * n}, {(p - 1) * n, (p - 1) * n});
    case Operation::reduce_scatter:
      return meet(p, {2 * n, 2 * p * n}, {(p - 1) / p * n, (p - 1) * n});
    case Operation::allgather:
      return meet(p, {p * n, p * p * n}, {0, 0});
    case Operation::alltoall:
      return meet(p, {(2 * p - 1) * n, p * (2 * p - 1) * n}, {0, 0});
    default:  // a scan
      return meet(p, {(p + 1) * n, p * n + p * (p + 1) / 2 * n}, {(p - 1) * n, p * (p - 1) / 2 * n});
  }
}

Cost cost_of_all_post(Operation operation, double n, double p) {
  const double others = p - 1;
  switch (operation) {
    case Operation::barrier:
      return post_by_all(p, 0, 0, {0, 0});
    case Operation::allreduce:
      return post_by_all(p, n, n, {others * n, p * others * n});
    case Operation::reduce_scatter:
      return post_by_all(p, n, n / p, {others / p * n, others * n});
    case Operation::alltoall:
      return post_by_all(p, others * n, n, {0, 0});
    default:
      return post_by_all(p, n, n, {0, 0});
  }
}

// All show `shown` bytes and all read.
Cost cost_showing(const Ask& ask, std::uint64_t shown) {
  if (all_post(ask.facts, shown)) return cost_of_all_post(ask.operation, ask.n(), ask.ranks());
  return fits_meeting(shown) ? parts_cost(ask.operation, ask.n(), ask.ranks())
                             : strips_cost(ask.operation, ask.n(), ask.ranks());
}
Cost cost_together(const Ask& ask) {
  return cost_showing(ask, ask.bytes);
}

bool posts_to_all(const Ask& ask) {
  return ask.facts.strips && fits_posting(ask.bytes);
}

Cost bcast_cost(const Ask& ask) {
  const double p = ask.ranks();
  if (posts_to_all(ask)) return post(p - 1, {ask.n(), p * ask.n()});
  return fits_meeting(ask.bytes) ? parts_cost(ask.operation, ask.n(), p) : strips_cost(ask.operation, ask.n(), p);
}

Cost reduce_cost(const Ask& ask) {
  const double n = ask.n();
  const double p = ask.ranks();
  if (posts_to_all(ask)) return post(p - 1, {n, p * n}, {(p - 1) * n, (p - 1) * n});
  return fits_meeting(ask.bytes) ? parts_cost(ask.operation, n, p) : strips_cost(ask.operation, n, p);
}

Cost scatter_cost(const Ask& ask) {
  const double n = ask.n();
  const double p = ask.ranks();
  return p * n <= static_cast<double>(kPostedBytes) ? post(p - 1, {p * n, 2 * p * n})
                                                    : read_in_place(p - 1, {n, (p - 1) * n});
}

Cost gather_cost(const Ask& ask) {
  const double moved = (ask.ranks() - 1) * ask.n();
  return posts_to_all(ask) ? post(ask.ranks() - 1, {moved, 2 * moved}) : read_in_place(ask.ranks() - 1, {moved, moved});
}

// A scan is a chain of posts where a meeting would wait for all.
bool scans_by_posts(const Facts& facts, std::uint64_t bytes) {
  return facts.strips && fits_posting(bytes) && (facts.crowded || !fits_meeting(bytes));
}

Cost scan_cost(const Ask& ask) {
  if (scans_by_posts(ask.facts, ask.bytes)) return chain_of_posts(ask.n(), ask.ranks());
  return fits_meeting(ask.bytes) ? parts_cost(ask.operation, ask.n(), ask.ranks())
                                 : strips_cost(ask.operation, ask.n(), ask.ranks());
}

std::uint64_t all_blocks(const Ask& ask) {
  return ask.bytes * static_cast<std::uint64_t>(ask.facts.ranks);
}

Cost alltoall_cost(const Ask& ask) {
  if (ask.facts.reads && ask.bytes > kReadWhereItLies) {
    const double moved = (ask.ranks() - 1) * ask.n();
    return read_in_place(ask.ranks() - 1, {moved, ask.ranks() * moved});
  }
  return cost_showing(ask, all_blocks(ask));
}

Steps reduce_scatter_by(Collective& collective, Means means, ReduceScatterCall call) {
  const std::vector<Slice> slices = slices_of(call, collective.size());
  const Reduction& is = call.reduction;
  const auto by = means.posts(is.bytes()) ? reduce_scatter_posted : reduce_scatter_shared;
  co_await by(collective, *means.team, is.partial, slices, is.element_bytes, is.combine);
}

Steps allgather_by(Collective& collective, Means means, AllgatherCall call) {
  static_cast<void>(place_own_block(collective, call));
  if (call.mine.bytes() != call.block_bytes) {
    collective.refuse_call();
    co_return;
  }
  const auto by = means.posts(call.block_bytes) ? allgather_posted : allgather_shared;
  co_await by(collective, *means.team, call.all, call.block_bytes);
}

}  // namespace

extern constinit const Row<BarrierCall> barrier_by_memory{
    {Algorithm::shared, meets, cost_together},
    [](Collective& collective, const Means& means, const BarrierCall& /*call*/) {
      return means.posts(0) ? barrier_posted(collective, *means.team) : barrier_shared(collective, *means.team);
    }};
extern constinit const Row<BcastCall> bcast_by_memory{
    {Algorithm::shared, strips_are_there, bcast_cost},
    [](Collective& collective, const Means& means, const BcastCall& call) {
      return fits_posting(call.data.bytes()) ? bcast_posted(collective, *means.team, call.root, call.data)
                                             : bcast_strips(collective, *means.team, call.root, call.data);
    }};
extern constinit const Row<ReduceCall> reduce_by_memory{
    {Algorithm::shared, strips_are_there, reduce_cost},
    [](Collective& collective, const Means& means, const ReduceCall& call) {
      const auto by = fits_posting(call.reduction.bytes()) ? reduce_posted : reduce_to_root_strips;
      return by(collective, *means.team, call.root, call.reduction.partial, call.reduction.count,
                call.reduction.element_bytes, call.reduction.combine);
    }};
extern constinit const Row<AllreduceCall> allreduce_by_memory{
    {Algorithm::shared, meets, cost_together},
    [](Collective& collective, const Means& means, const AllreduceCall& call) {
      const auto by = means.posts(call.reduction.bytes()) ? allreduce_posted : allreduce_shared;
      return by(collective, *means.team, call.reduction.partial, call.reduction.count, call.reduction.element_bytes,
                call.reduction.combine);
    }};
extern constinit const Row<GatherCall> gather_by_memory{
    {Algorithm::shared, [](const Ask& ask) { return ask.facts.strips && (ask.facts.reads || fits_posting(ask.bytes)); },
     gather_cost},
    [](Collective& collective, const Means& means, const GatherCall& call) {
      if (!fits_posting(call.block_bytes)) return gather_blocks(collective, means.team, call);
      return gather_posted(collective, *means.team, call.root, call.mine, call.block_bytes, call.all);
    }};
extern constinit const Row<AllgatherCall> allgather_by_memory{
    {Algorithm::shared, meets, cost_together},
    [](Collective& collective, const Means& means, const AllgatherCall& call) {
      return allgather_by(collective, means, call);
    }};
extern constinit const Row<ScatterCall> scatter_by_memory{
    {Algorithm::shared,
     [](const Ask& ask) {
       return ask.facts.strips &&
              (ask.facts.reads || ask.bytes <= kPostedBytes / static_cast<std::uint64_t>(ask.facts.ranks));
     },
     scatter_cost},
    [](Collective& collective, const Means& means, const ScatterCall& call) {
      if (!fits_posting(call.block_bytes * static_cast<std::uint64_t>(means.facts.ranks)))
        return scatter_blocks(collective, means.team, call);
      return scatter_posted(collective, *means.team, call.root, call.all, call.block_bytes, call.mine);
    }};
extern constinit const Row<ReduceScatterCall> reduce_scatter_by_memory{
    {Algorithm::shared, meets, cost_together},
    [](Collective& collective, const Means& means, const ReduceScatterCall& call) {
      return reduce_scatter_by(collective, means, call);
    }};
extern constinit const Row<ScanCall> scan_by_memory{
    {Algorithm::shared,
     [](const Ask& ask) { return ask.facts.shared && (fits_meeting(ask.bytes) || posts_to_all(ask)); }, scan_cost},
    [](Collective& collective, const Means& means, const ScanCall& call) {
      const auto by = scans_by_posts(means.facts, call.reduction.bytes()) ? scan_posted : scan_shared;
      return by(collective, *means.team, call.kind, call.reduction.partial, call.reduction.count,
                call.reduction.element_bytes, call.reduction.combine);
    }};
extern constinit const Formula alltoall_by_memory{
    Algorithm::shared,
    [](const Ask& ask) {
      const auto ranks = static_cast<std::uint64_t>(ask.facts.ranks);
      return ask.facts.shared && (ask.bytes <= sim::kMeetingPartBytes / ranks || ask.facts.strips);
    },
    alltoall_cost};

}  // namespace margay::collectives
