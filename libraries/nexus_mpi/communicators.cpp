// Communicators of the layer, and MPI's collective constructors.
//
// A child's number depends on its parent's and on the constructors called on the parent so far, which are the same on
// all ranks of the parent, so the ranks need not communicate. Children of one constructor share no rank.
#include "libraries/nexus_mpi/layer.hpp"
#include "libraries/nexus_mpi/serve.hpp"

namespace margay::nexus_mpi {
namespace {

// SplitMix64: numbers of two different children are equal with a probability of 2^-64.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// Calls a constructor when all ranks of the parent have come to it, and adds the child.
template <typename Construct>
int construct(MPI_Comm parent, const MPI_Comm* child, Construct call) {
  if (find(parent) == nullptr || child == nullptr) return call();
  const int code = serve_collective([parent](MPI_Request* request) { return PMPI_Ibarrier(parent, request); });
  if (code != MPI_SUCCESS) return code;
  // The call sets the handle.
  const int made = call();
  return add_child(made, parent, *child);
}

}  // namespace

Communicator* find(MPI_Comm communicator) {
  if (layer == nullptr) return nullptr;
  const auto at = layer->communicators.find(communicator);
  return at == layer->communicators.end() ? nullptr : at->second.get();
}

void add(MPI_Comm handle, std::uint64_t number) {
  auto added = std::make_unique<Communicator>();
  added->number = number;
  int size = 0;
  PMPI_Comm_rank(handle, &added->rank);
  PMPI_Comm_size(handle, &size);
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(handle, &group);
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) ranks[static_cast<std::size_t>(i)] = i;
  added->worlds.resize(ranks.size());
  PMPI_Group_translate_ranks(group, size, ranks.data(), world, added->worlds.data());
  PMPI_Group_free(&group);
  PMPI_Group_free(&world);
  PMPI_Comm_set_attr(handle, layer->keyval, nullptr);
  layer->communicators[handle] = std::move(added);
}

int add_child(int code, MPI_Comm parent, MPI_Comm child) {
  Communicator* const known = find(parent);
  if (code != MPI_SUCCESS || known == nullptr) return code;
  const std::uint64_t number = mixed(known->number ^ mixed(++known->constructors));
  if (child == MPI_COMM_NULL) return code;
  int is_inter = 0;
  PMPI_Comm_test_inter(child, &is_inter);
  if (is_inter == 0) add(child, number);
  return code;
}

}  // namespace margay::nexus_mpi

using margay::nexus_mpi::construct;

extern "C" {

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  return construct(comm, newcomm, [&] { return PMPI_Comm_dup(comm, newcomm); });
}

int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return construct(comm, newcomm, [&] { return PMPI_Comm_dup_with_info(comm, info, newcomm); });
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  return construct(comm, newcomm, [&] { return PMPI_Comm_create(comm, group, newcomm); });
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return construct(comm, newcomm, [&] { return PMPI_Comm_split(comm, color, key, newcomm); });
}

int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm* newcomm) {
  return construct(comm, newcomm, [&] { return PMPI_Comm_split_type(comm, split_type, key, info, newcomm); });
}

int MPI_Cart_create(MPI_Comm comm, int ndims, const int dims[], const int periods[], int reorder, MPI_Comm* newcomm) {
  return construct(comm, newcomm, [&] { return PMPI_Cart_create(comm, ndims, dims, periods, reorder, newcomm); });
}

int MPI_Cart_sub(MPI_Comm comm, const int remain_dims[], MPI_Comm* newcomm) {
  return construct(comm, newcomm, [&] { return PMPI_Cart_sub(comm, remain_dims, newcomm); });
}

int MPI_Graph_create(MPI_Comm comm, int nnodes, const int index[], const int edges[], int reorder, MPI_Comm* newcomm) {
  return construct(comm, newcomm, [&] { return PMPI_Graph_create(comm, nnodes, index, edges, reorder, newcomm); });
}

int MPI_Dist_graph_create(MPI_Comm comm, int n, const int sources[], const int degrees[], const int destinations[],
                          const int weights[], MPI_Info info, int reorder, MPI_Comm* newcomm) {
  return construct(comm, newcomm, [&] {
    return PMPI_Dist_graph_create(comm, n, sources, degrees, destinations, weights, info, reorder, newcomm);
  });
}

int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int indegree, const int sources[], const int sourceweights[],
                                   int outdegree, const int destinations[], const int destweights[], MPI_Info info,
                                   int reorder, MPI_Comm* newcomm) {
  return construct(comm, newcomm, [&] {
    return PMPI_Dist_graph_create_adjacent(comm, indegree, sources, sourceweights, outdegree, destinations, destweights,
                                           info, reorder, newcomm);
  });
}

}  // extern "C"
