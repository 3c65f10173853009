// Process topologies as data (MPI 4.0, chapter 8), and the arithmetic on them. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// A Cartesian grid (MPI 4.0, 8.5.1). Row-major: the last coordinate varies fastest.
struct CartTopology {
  std::vector<int> dims;
  std::vector<int> periods;  // 0 or 1

  [[nodiscard]] int ndims() const { return static_cast<int>(dims.size()); }
  // The coordinates of a rank. Requires: 0 <= rank < the product of dims.
  [[nodiscard]] std::vector<int> coords_of(int rank) const;
  // The rank at these coordinates, which wrap round in periodic dimensions. MPI_PROC_NULL: outside of the grid.
  [[nodiscard]] int rank_of(std::span<const int> coords) const;
  // The rank at a distance of `displacement` from `rank`, or MPI_PROC_NULL. Requires: 0 <= direction < ndims().
  [[nodiscard]] int shifted(int rank, int direction, std::int64_t displacement) const;
  // The grid of the remaining dimensions (MPI_Cart_sub).
  [[nodiscard]] CartTopology sub_grid(std::span<const int> remain) const;
  // A position in a partition of the grid into sub-grids: the number of the sub-grid, and the rank in it.
  struct SubGridRank {
    int color = 0;
    int key = 0;
  };
  [[nodiscard]] SubGridRank rank_in_sub_grid(int rank, std::span<const int> remain) const;
};

// A graph, whole on every process. The neighbors of node i are edges[index[i - 1]] ... edges[index[i] - 1].
struct GraphTopology {
  std::vector<int> index;
  std::vector<int> edges;

  // The neighbors of a rank. Requires: 0 <= rank < the number of nodes.
  [[nodiscard]] std::span<const int> neighbors(int rank) const;
};

// The edges that end or begin at this process in a distributed graph (MPI 4.0, 8.5.4). Other processes' edges are not
// known here. Weights are empty when the graph is unweighted.
struct DistGraphTopology {
  std::vector<int> sources, source_weights;
  std::vector<int> destinations, destination_weights;
  // Stored separately, because a process without edges has no weights even in a weighted graph.
  bool weighted = false;
};

// A communicator's topology, of one of the three kinds.
struct Topology {
  // MPI_Topo_test reports the kind. A duplicated communicator shares the object with its original.
  std::variant<CartTopology, GraphTopology, DistGraphTopology> is;
};

// The number of grid points; -1 when it exceeds INT_MAX or a dimension is negative.
[[nodiscard]] int grid_size(std::span<const int> dims);

// MPI_Dims_create: fills the entries that are 0 with factors as close to each other as possible, in non-increasing
// order, so that the product is `nodes`. False: the product of the given entries does not divide `nodes`. Requires:
// nodes > 0, no negative entry.
[[nodiscard]] bool balance_dims(int nodes, std::span<int> dims);

}  // namespace margay::mpi_adi
