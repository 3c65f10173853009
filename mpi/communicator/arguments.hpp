// Lookups and checks that the bindings of groups, communicators and topologies share. After an error each does nothing
// and returns nullptr or an empty object.
#pragma once

#include <span>

#include "collectives/comm/construct.hpp"
#include "mpi/call/call.hpp"
#include "mpi_adi/object/topology.hpp"

namespace margay::mpi {

// The group behind a handle, as a reference that outlives the handle; nullptr after an error (MPI_ERR_GROUP). `what`:
// the argument's name.
[[nodiscard]] GroupPtr checked_group(Call& call, MPI_Group handle, const char* what = "group");
// Ends a call with a new handle for `group`, or with MPI_ERR_OTHER if none of the 2^18 handles is free. The program
// frees the handle, not the group.
[[nodiscard]] int give_group(Call& call, GroupPtr group, MPI_Group* handle);

// Checks that a number is not negative (MPI_ERR_ARG).
void not_negative(Call& call, int number, const char* what);
// Checks an array of `count` entries, which may be null only if there are none.
[[nodiscard]] std::span<const int> checked_array(Call& call, const int* array, int count, const char* what);
// Checks a rank of a group with `size` members (MPI_ERR_RANK).
void check_rank(Call& call, int rank, int size, const char* what = "rank");

// The communicator's topology of class `Kind`; nullptr, with MPI_ERR_TOPOLOGY set, if it has another topology or none.
// `kind`: the name of the kind, for the message.
template <typename Kind>
[[nodiscard]] const Kind* topology_of(Call& call, const Communicator* communicator, const char* kind) {
  if (!call.ok()) return nullptr;
  // Not null here: an invalid communicator has set the error.
  const Topology* const topology = communicator->topology.get();
  const Kind* const found = topology == nullptr ? nullptr : std::get_if<Kind>(&topology->is);
  if (found == nullptr) call.error(MPI_ERR_TOPOLOGY, std::string("the communicator has no ") + kind + " topology");
  return found;
}
// The same for each kind of topology.
[[nodiscard]] inline const CartTopology* cart_of(Call& call, const Communicator* communicator) {
  return topology_of<CartTopology>(call, communicator, "Cartesian");
}
[[nodiscard]] inline const GraphTopology* graph_of(Call& call, const Communicator* communicator) {
  return topology_of<GraphTopology>(call, communicator, "graph");
}
[[nodiscard]] inline const DistGraphTopology* dist_graph_of(Call& call, const Communicator* communicator) {
  return topology_of<DistGraphTopology>(call, communicator, "distributed graph");
}

// Checks a grid's sizes: all above 0 (MPI_ERR_DIMS), with a product of at most `processes` (MPI_ERR_ARG). Empty after
// an error, and for a grid without dimensions.
[[nodiscard]] std::span<const int> checked_dims(Call& call, int ndims, const int* dims, int processes);
// Checks a graph of at most `processes` nodes, given as in MPI_Graph_create: index[i] is the end of node i's part of
// `edges` (MPI 4.0, 8.5.3). Returns a copy, which is empty after an error.
[[nodiscard]] GraphTopology checked_graph(Call& call, int nnodes, const int* index, const int* edges, int processes);

// The ends of calls that make communicators.

// Passes the communicator, or MPI_COMM_NULL, to the program, or raises the error of its construction: MPI_ERR_OTHER if
// all contexts are in use, otherwise the error of the collective agreement.
[[nodiscard]] int give_communicator(Call& call, const Made& made, MPI_Comm* handle);

// The same for a duplicate of `parent`: copies the attributes first, and frees the duplicate if a copy function fails.
// `hints` null: none.
[[nodiscard]] int give_duplicate(Call& call, Communicator& parent, Made made, MPI_Comm* handle,
                                 const Info* hints = nullptr);

}  // namespace margay::mpi
