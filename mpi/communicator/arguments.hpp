// Lookups and checks that the bindings of groups and topologies share. After an error each returns a harmless object.
#pragma once

#include <span>

#include "collectives/comm/construct.hpp"
#include "mpi/call/call.hpp"
#include "mpi_adi/object/topology.hpp"

namespace margay::mpi {

// The group behind a handle; nullptr after an error. `what`: the argument's name.
[[nodiscard]] GroupPtr checked_group(Call& call, MPI_Group handle, const char* what = "group");
// A handle of `group` for the program, and the call's end.
[[nodiscard]] int give_group(Call& call, GroupPtr group, MPI_Group* handle);

// A number that is not below 0.
void not_negative(Call& call, int number, const char* what);
// `count` entries behind a pointer that may be null when there are none.
[[nodiscard]] std::span<const int> checked_array(Call& call, const int* array, int count, const char* what);
// A rank of a group with `size` members.
void check_rank(Call& call, int rank, int size, const char* what = "rank");

// The communicator's topology of that sort; nullptr after an error.
template <typename Kind>
[[nodiscard]] const Kind* topology_of(Call& call, const Communicator* communicator, const char* kind) {
  if (!call.ok()) return nullptr;
  const Topology* const topology = communicator->topology.get();
  const Kind* const found = topology == nullptr ? nullptr : std::get_if<Kind>(&topology->is);
  if (found == nullptr) call.error(MPI_ERR_TOPOLOGY, std::string("the communicator has no ") + kind + " topology");
  return found;
}
[[nodiscard]] inline const CartTopology* cart_of(Call& call, const Communicator* communicator) {
  return topology_of<CartTopology>(call, communicator, "Cartesian");
}
[[nodiscard]] inline const GraphTopology* graph_of(Call& call, const Communicator* communicator) {
  return topology_of<GraphTopology>(call, communicator, "graph");
}
[[nodiscard]] inline const DistGraphTopology* dist_graph_of(Call& call, const Communicator* communicator) {
  return topology_of<DistGraphTopology>(call, communicator, "distributed graph");
}

// A grid's sizes, all above 0, at most `processes` in all.
[[nodiscard]] std::span<const int> checked_dims(Call& call, int ndims, const int* dims, int processes);
// A graph for at most `processes` nodes, checked; an empty one after an error.
[[nodiscard]] GraphTopology checked_graph(Call& call, int nnodes, const int* index, const int* edges, int processes);

// The end of calls that make communicators.

// Hands the communicator, or MPI_COMM_NULL, to the program, or raises why there is none; the call's end.
[[nodiscard]] int give_communicator(Call& call, const Made& made, MPI_Comm* handle);

// The same for a duplicate of `parent`, which takes over its attributes; `hints` null: it has none.
[[nodiscard]] int give_duplicate(Call& call, Communicator& parent, Made made, MPI_Comm* handle,
                                 const Info* hints = nullptr);

}  // namespace margay::mpi
