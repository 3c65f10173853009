// Edges that any process may name, to the processes that they join (MPI 4.0, 8.5.4).
#pragma once

#include <span>
#include <vector>

#include "mpi_adi/object/topology.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

struct Edge {
  int source;  // ranks of the communicator
  int destination;
  int weight;
};

// Whether edges that another member sent can be this one's, in a communicator of `size`.
[[nodiscard]] bool can_be_edges(std::span<const Edge> edges, int me, int size);

// The edges that begin or end here, out of all that the members of `parent` name; in the order of who names them.
// MPI_SUCCESS; MPIX_ERR_PROC_FAILED; MPI_ERR_TOPOLOGY, a member sent what cannot be edges of this one. Collective; a
// message between each two ranks of which one names the other.
[[nodiscard]] int distribute_edges(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent,
                                   const std::vector<Edge>& edges, mpi_adi::DistGraphTopology& mine);

}  // namespace margay::collectives
