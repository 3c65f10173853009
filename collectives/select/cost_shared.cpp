// The formulas of what goes through memory that all ranks of a node see: no message.
#include <algorithm>
#include <cmath>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/portal/post.hpp"
#include "collectives/select/cost_parts.hpp"
#include "sim/wire/shm/shm_layout.hpp"

namespace margay::collectives {

namespace {

// Bytes that are written or read there, and that are combined: on the path, and of all ranks.
struct Moved {
  double path;
  double all;
};

Cost through_memory(double looks_path, double looks_all, const Moved& moved, const Moved& combined) {
  Cost cost;
  cost.path.shared_looks = looks_path;
  cost.all.shared_looks = looks_all;
  cost.path.shared_bytes = moved.path;
  cost.all.shared_bytes = moved.all;
  cost.path.combined_bytes = combined.path;
  cost.all.combined_bytes = combined.all;
  cost.turns = 1;
  return cost;
}

// All show something, `meetings` times; a counter goes from one to the next, then a flag tells that all are there.
Cost meet(double ranks, const Moved& moved, const Moved& combined, double meetings = 1) {
  Cost cost = through_memory(ranks * meetings, 2 * ranks * meetings, moved, combined);
  cost.turns = meetings;
  return cost;
}

// Nobody waits for those that read, so of calls that follow each other one is read while the next one is written: on
// the path is the longer of the two.
Cost post(double looks, const Moved& moved, const Moved& combined = {0, 0}) {
  Cost cost = through_memory(looks, looks, moved, combined);
  cost.one_way = true;
  return cost;
}

// What is read where it lies: who shows it waits until it is read.
Cost read_in_place(double looks, const Moved& moved) {
  Cost cost = through_memory(2 * looks, 2 * looks, moved, {0, 0});
  cost.turns = 2;
  return cost;
}

// Each shows `shown` bytes and reads `read` of those of all others.
Cost post_by_all(double ranks, double shown, double read, const Moved& combined) {
  const double others = ranks - 1;
  return through_memory(others, ranks * others, {shown + others * read, ranks * (shown + others * read)}, combined);
}

double meetings_of(double bytes) {
  return std::ceil(bytes / static_cast<double>(sim::kStripBytes)) + 1;
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

// A chain of ranks: each reads what the ranks before it come to, and shows what it makes of that.
Cost chain_of_posts(double n, double p) {
  Cost cost = post(p - 1, {(p - 1) * n, (p - 1) * n}, {(p - 1) * n, (p - 1) * n});
  cost.turns = p - 1;
  return cost;
}

}  // namespace

Cost shared_cost(Operation operation, double n, const Facts& facts) {
  const double p = facts.ranks;
  const double others = p - 1;
  const bool posted = facts.strips && n <= static_cast<double>(kPostedBytes);
  const bool parts = n * (operation == Operation::alltoall ? p : 1) <= static_cast<double>(sim::kMeetingPartBytes);
  switch (operation) {
    case Operation::bcast:
      if (posted) return post(others, {n, p * n});
      break;
    case Operation::scatter:
      return p * n <= static_cast<double>(kPostedBytes) ? post(others, {p * n, 2 * p * n})
                                                        : read_in_place(others, {n, others * n});
    case Operation::gather:
      return posted ? post(others, {others * n, 2 * others * n}) : read_in_place(others, {others * n, others * n});
    case Operation::reduce:
      if (posted) return post(others, {n, p * n}, {others * n, others * n});
      break;
    case Operation::scan:
    case Operation::exscan:
      if (posted && (facts.crowded || !parts)) return chain_of_posts(n, p);
      break;
    default:
      break;
  }
  if (operation == Operation::alltoall && facts.reads && n > static_cast<double>(kReadWhereItLies)) {
    return read_in_place(others, {others * n, p * others * n});
  }
  const bool scans = operation == Operation::scan || operation == Operation::exscan;
  const auto shown = static_cast<std::uint64_t>(n * (operation == Operation::alltoall ? p : 1));
  if (!scans && all_post(facts, shown)) return cost_of_all_post(operation, n, p);
  return parts ? parts_cost(operation, n, p) : strips_cost(operation, n, p);
}

}  // namespace margay::collectives
