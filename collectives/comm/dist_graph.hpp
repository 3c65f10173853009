// Edges that any process may name, to the processes that they join (MPI 4.0, 8.5.4).
#pragma once

#include "mpi_adi/object/topology.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

struct Edge {
  int source;  // ranks of the communicator
  int destination;
  int weight;
};

// The edges that begin or end here, out of all that the members of `parent` name; in the order of who names them.
// MPI_SUCCESS or MPIX_ERR_PROC_FAILED. Collective; a message between each two ranks of which one names the other.
[[nodiscard]] int distribute_edges(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent,
                                   const std::vector<Edge>& edges, mpi_adi::DistGraphTopology& mine);

}  // namespace margay::collectives
