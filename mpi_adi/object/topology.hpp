// Process topologies as data (MPI 4.0, chapter 8): what a communicator carries, and the arithmetic on it. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// Row-major: the last coordinate varies fastest.
struct CartTopology {
  std::vector<int> dims;
  std::vector<int> periods;  // 0 or 1

  [[nodiscard]] int ndims() const { return static_cast<int>(dims.size()); }
  // Requires: 0 <= rank < the product of dims.
  [[nodiscard]] std::vector<int> coords_of(int rank) const;
  // Of coordinates, which wrap where the grid does. MPI_PROC_NULL: outside it.
  [[nodiscard]] int rank_of(std::span<const int> coords) const;
  // The rank that lies `displacement` away from `rank`; MPI_PROC_NULL: outside. Requires: 0 <= direction < ndims().
  [[nodiscard]] int shifted(int rank, int direction, std::int64_t displacement) const;
  // The grid of the dimensions that remain.
  [[nodiscard]] CartTopology sub_grid(std::span<const int> remain) const;
  // Which sub-grid a rank falls in, and its rank there.
  struct Place {
    int color = 0;
    int key = 0;
  };
  [[nodiscard]] Place place_in_sub_grid(int rank, std::span<const int> remain) const;
};

// The neighbors of node i are edges[index[i - 1]] ... edges[index[i] - 1].
struct GraphTopology {
  std::vector<int> index;
  std::vector<int> edges;

  // Requires: 0 <= rank < the number of nodes.
  [[nodiscard]] std::span<const int> neighbors(int rank) const;
};

// The edges of this process only. Weights are empty when unweighted.
struct DistGraphTopology {
  std::vector<int> sources, source_weights;
  std::vector<int> destinations, destination_weights;
  bool weighted = false;
};

struct Topology {
  std::variant<CartTopology, GraphTopology, DistGraphTopology> is;
};

// The product; -1 when it is above INT_MAX or a dimension is below 0.
[[nodiscard]] int grid_size(std::span<const int> dims);

// MPI_Dims_create: fills the entries that are 0, so that the product is `nodes`, as close to each other as can be, in
// non-increasing order. false: the product of the given entries does not divide `nodes`. Requires: nodes > 0, no entry
// below 0.
[[nodiscard]] bool balance_dims(int nodes, std::span<int> dims);

}  // namespace margay::mpi_adi
