#include "collectives/algorithm/registry.hpp"

#include <algorithm>

namespace margay::collectives {

// To add an algorithm, declare its rows here and list them below, in the order of the enumeration.
extern const Row<BarrierCall> barrier_by_tree, barrier_by_exchange, barrier_by_nodes, barrier_by_posting,
    barrier_by_shared_barrier;
extern const Row<BcastCall> bcast_by_tree, bcast_by_nodes, bcast_by_bucket, bcast_by_hybrid, bcast_by_posting,
    bcast_by_strips, bcast_by_chain;
extern const Row<ReduceCall> reduce_by_tree, reduce_by_nodes, reduce_by_slices, reduce_by_hybrid, reduce_by_posting,
    reduce_by_strips;
extern const Row<AllreduceCall> allreduce_by_tree, allreduce_by_exchange, allreduce_by_nodes, allreduce_by_slices,
    allreduce_by_bucket, allreduce_by_hybrid, allreduce_by_posting, allreduce_by_shared_barrier, allreduce_by_strips;
extern const Row<GatherCall> gather_by_tree, gather_directly, gather_by_posting, gather_by_reading;
extern const Row<AllgatherCall> allgather_by_tree, allgather_by_exchange, allgather_by_nodes, allgather_directly,
    allgather_by_bucket, allgather_by_hybrid, allgather_by_posting, allgather_by_shared_barrier, allgather_by_strips;
extern const Row<ScatterCall> scatter_by_tree, scatter_directly, scatter_by_posting, scatter_by_reading;
extern const Row<AlltoallCall> alltoall_directly, alltoall_by_reading, alltoall_by_posting, alltoall_by_shared_barrier,
    alltoall_by_strips;
extern const Row<ReduceScatterCall> reduce_scatter_by_tree, reduce_scatter_by_nodes, reduce_scatter_by_slices,
    reduce_scatter_by_bucket, reduce_scatter_by_hybrid, reduce_scatter_by_posting, reduce_scatter_by_shared_barrier,
    reduce_scatter_by_strips;
extern const Row<ScanCall> scan_by_exchange, scan_by_posting, scan_by_shared_barrier, scan_by_chain;

namespace {

constexpr const Row<BarrierCall>* kBarriers[] = {&barrier_by_tree, &barrier_by_exchange, &barrier_by_nodes,
                                                 &barrier_by_posting, &barrier_by_shared_barrier};
constexpr const Row<BcastCall>* kBcasts[] = {&bcast_by_tree,    &bcast_by_nodes,  &bcast_by_bucket, &bcast_by_hybrid,
                                             &bcast_by_posting, &bcast_by_strips, &bcast_by_chain};
constexpr const Row<ReduceCall>* kReductions[] = {&reduce_by_tree,   &reduce_by_nodes,   &reduce_by_slices,
                                                  &reduce_by_hybrid, &reduce_by_posting, &reduce_by_strips};
constexpr const Row<AllreduceCall>* kAllreductions[] = {
    &allreduce_by_tree,    &allreduce_by_exchange,       &allreduce_by_nodes,
    &allreduce_by_slices,  &allreduce_by_bucket,         &allreduce_by_hybrid,
    &allreduce_by_posting, &allreduce_by_shared_barrier, &allreduce_by_strips};
constexpr const Row<GatherCall>* kGathers[] = {&gather_by_tree, &gather_directly, &gather_by_posting,
                                               &gather_by_reading};
constexpr const Row<AllgatherCall>* kAllgathers[] = {
    &allgather_by_tree,    &allgather_by_exchange,       &allgather_by_nodes,
    &allgather_directly,   &allgather_by_bucket,         &allgather_by_hybrid,
    &allgather_by_posting, &allgather_by_shared_barrier, &allgather_by_strips};
constexpr const Row<ScatterCall>* kScatters[] = {&scatter_by_tree, &scatter_directly, &scatter_by_posting,
                                                 &scatter_by_reading};
constexpr const Row<AlltoallCall>* kAlltoalls[] = {&alltoall_directly, &alltoall_by_reading, &alltoall_by_posting,
                                                   &alltoall_by_shared_barrier, &alltoall_by_strips};
constexpr const Row<ReduceScatterCall>* kReduceScatters[] = {
    &reduce_scatter_by_tree,           &reduce_scatter_by_nodes,  &reduce_scatter_by_slices,
    &reduce_scatter_by_bucket,         &reduce_scatter_by_hybrid, &reduce_scatter_by_posting,
    &reduce_scatter_by_shared_barrier, &reduce_scatter_by_strips};
constexpr const Row<ScanCall>* kScans[] = {&scan_by_exchange, &scan_by_posting, &scan_by_shared_barrier,
                                           &scan_by_chain};

// Applies `visit` to the rows of an operation; returns `otherwise` for operations without rows.
template <typename Result, typename Visit>
Result of_rows(Operation operation, Result otherwise, Visit visit) {
  switch (operation) {
    case Operation::barrier:
      return visit(kBarriers);
    case Operation::bcast:
      return visit(kBcasts);
    case Operation::reduce:
      return visit(kReductions);
    case Operation::allreduce:
      return visit(kAllreductions);
    case Operation::gather:
      return visit(kGathers);
    case Operation::allgather:
      return visit(kAllgathers);
    case Operation::scatter:
      return visit(kScatters);
    case Operation::alltoall:
      return visit(kAlltoalls);
    case Operation::reduce_scatter:
      return visit(kReduceScatters);
    case Operation::scan:
    case Operation::exscan:
      return visit(kScans);
    case Operation::neighbor_allgather:
    case Operation::neighbor_alltoall:
      break;
  }
  return otherwise;
}

}  // namespace

template <>
std::span<const Row<BarrierCall>* const> rows<BarrierCall>() {
  return kBarriers;
}
template <>
std::span<const Row<BcastCall>* const> rows<BcastCall>() {
  return kBcasts;
}
template <>
std::span<const Row<ReduceCall>* const> rows<ReduceCall>() {
  return kReductions;
}
template <>
std::span<const Row<AllreduceCall>* const> rows<AllreduceCall>() {
  return kAllreductions;
}
template <>
std::span<const Row<GatherCall>* const> rows<GatherCall>() {
  return kGathers;
}
template <>
std::span<const Row<AllgatherCall>* const> rows<AllgatherCall>() {
  return kAllgathers;
}
template <>
std::span<const Row<ScatterCall>* const> rows<ScatterCall>() {
  return kScatters;
}
template <>
std::span<const Row<AlltoallCall>* const> rows<AlltoallCall>() {
  return kAlltoalls;
}
template <>
std::span<const Row<ReduceScatterCall>* const> rows<ReduceScatterCall>() {
  return kReduceScatters;
}
template <>
std::span<const Row<ScanCall>* const> rows<ScanCall>() {
  return kScans;
}

// Linear searches over a few rows.
bool does(Algorithm algorithm, Operation operation) {
  return of_rows(operation, false, [&](const auto& rows) {
    return std::ranges::any_of(rows, [&](const Formula* row) { return row->algorithm == algorithm; });
  });
}

bool can(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  const CallFacts call{operation, bytes, facts, in_order};
  return of_rows(operation, false, [&](const auto& rows) {
    return std::ranges::any_of(rows, [&](const Formula* row) { return row->algorithm == algorithm && row->can(call); });
  });
}

Cost cost_of(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  const CallFacts call{operation, bytes, facts, in_order};
  return of_rows(operation, Cost(), [&](const auto& rows) {
    const auto* const first = std::ranges::find(rows, algorithm, [](const Formula* row) { return row->algorithm; });
    // An algorithm's rows are consecutive.
    const auto* const last =
        std::find_if(first, std::end(rows), [&](const Formula* row) { return row->algorithm != algorithm; });
    MARGAY_ASSERT(first != last);
    return first_applicable(std::span(first, last), call).cost(call);
  });
}

}  // namespace margay::collectives
