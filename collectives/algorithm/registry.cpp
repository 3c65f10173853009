#include "collectives/algorithm/registry.hpp"

namespace margay::collectives {

// A new algorithm: its rows are declared and listed here, in the order of the enumeration.
extern const Row<BarrierCall> barrier_by_tree, barrier_by_exchange, barrier_by_nodes, barrier_by_memory;
extern const Row<BcastCall> bcast_by_tree, bcast_by_nodes, bcast_by_bucket, bcast_by_hybrid, bcast_by_memory;
extern const Row<ReduceCall> reduce_by_tree, reduce_by_nodes, reduce_by_slices, reduce_by_hybrid, reduce_by_memory;
extern const Row<AllreduceCall> allreduce_by_tree, allreduce_by_exchange, allreduce_by_nodes, allreduce_by_slices,
    allreduce_by_bucket, allreduce_by_hybrid, allreduce_by_memory;
extern const Row<GatherCall> gather_by_tree, gather_directly, gather_by_memory;
extern const Row<AllgatherCall> allgather_by_tree, allgather_by_exchange, allgather_by_nodes, allgather_directly,
    allgather_by_bucket, allgather_by_hybrid, allgather_by_memory;
extern const Row<ScatterCall> scatter_by_tree, scatter_directly, scatter_by_memory;
extern const Row<ReduceScatterCall> reduce_scatter_by_tree, reduce_scatter_by_nodes, reduce_scatter_by_slices,
    reduce_scatter_by_bucket, reduce_scatter_by_hybrid, reduce_scatter_by_memory;
extern const Row<ScanCall> scan_by_exchange, scan_by_memory, scan_by_chain;
extern const Formula alltoall_directly, alltoall_by_memory;  // which mpi/collective/block_move runs

namespace {

constexpr const Row<BarrierCall>* kBarriers[] = {&barrier_by_tree, &barrier_by_exchange, &barrier_by_nodes,
                                                 &barrier_by_memory};
constexpr const Row<BcastCall>* kBcasts[] = {&bcast_by_tree, &bcast_by_nodes, &bcast_by_bucket, &bcast_by_hybrid,
                                             &bcast_by_memory};
constexpr const Row<ReduceCall>* kReductions[] = {&reduce_by_tree, &reduce_by_nodes, &reduce_by_slices,
                                                  &reduce_by_hybrid, &reduce_by_memory};
constexpr const Row<AllreduceCall>* kAllreductions[] = {
    &allreduce_by_tree,   &allreduce_by_exchange, &allreduce_by_nodes, &allreduce_by_slices,
    &allreduce_by_bucket, &allreduce_by_hybrid,   &allreduce_by_memory};
constexpr const Row<GatherCall>* kGathers[] = {&gather_by_tree, &gather_directly, &gather_by_memory};
constexpr const Row<AllgatherCall>* kAllgathers[] = {&allgather_by_tree,  &allgather_by_exchange, &allgather_by_nodes,
                                                     &allgather_directly, &allgather_by_bucket,   &allgather_by_hybrid,
                                                     &allgather_by_memory};
constexpr const Row<ScatterCall>* kScatters[] = {&scatter_by_tree, &scatter_directly, &scatter_by_memory};
constexpr const Row<ReduceScatterCall>* kReduceScatters[] = {&reduce_scatter_by_tree,   &reduce_scatter_by_nodes,
                                                             &reduce_scatter_by_slices, &reduce_scatter_by_bucket,
                                                             &reduce_scatter_by_hybrid, &reduce_scatter_by_memory};
constexpr const Row<ScanCall>* kScans[] = {&scan_by_exchange, &scan_by_memory, &scan_by_chain};
constexpr const Formula* kAlltoalls[] = {&alltoall_directly, &alltoall_by_memory};

const Formula* find_in(const auto& rows, Algorithm algorithm) {
  for (const Formula* const row : rows) {
    if (row->algorithm == algorithm) return row;
  }
  return nullptr;
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
std::span<const Row<ReduceScatterCall>* const> rows<ReduceScatterCall>() {
  return kReduceScatters;
}
template <>
std::span<const Row<ScanCall>* const> rows<ScanCall>() {
  return kScans;
}

const Formula* find_formula(Algorithm algorithm, Operation operation) {
  switch (operation) {
    case Operation::barrier:
      return find_in(kBarriers, algorithm);
    case Operation::bcast:
      return find_in(kBcasts, algorithm);
    case Operation::reduce:
      return find_in(kReductions, algorithm);
    case Operation::allreduce:
      return find_in(kAllreductions, algorithm);
    case Operation::gather:
      return find_in(kGathers, algorithm);
    case Operation::allgather:
      return find_in(kAllgathers, algorithm);
    case Operation::scatter:
      return find_in(kScatters, algorithm);
    case Operation::alltoall:
      return find_in(kAlltoalls, algorithm);
    case Operation::reduce_scatter:
      return find_in(kReduceScatters, algorithm);
    case Operation::scan:
    case Operation::exscan:
      return find_in(kScans, algorithm);
    case Operation::neighbor_allgather:
    case Operation::neighbor_alltoall:
      break;  // always directly
  }
  return nullptr;
}

bool can(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  const Formula* const formula = find_formula(algorithm, operation);
  return formula != nullptr && formula->can({operation, bytes, facts, in_order});
}

Cost cost_of(Algorithm algorithm, Operation operation, std::uint64_t bytes, const Facts& facts, bool in_order) {
  return find_formula(algorithm, operation)->cost({operation, bytes, facts, in_order});
}

}  // namespace margay::collectives
