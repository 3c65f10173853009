#include "mpi_adi/object/topology.hpp"

#include <cstddef>

namespace margay::mpi_adi {

namespace {

// `coordinate` if it is inside of the dimension, wrapped round in a periodic one; -1: outside.
int inside(std::int64_t coordinate, int dim, bool periodic) {
  if (coordinate >= 0 && coordinate < dim) return static_cast<int>(coordinate);
  if (!periodic) return -1;
  // The remainder of a negative number is negative in C++.
  const std::int64_t wrapped = coordinate % dim;
  return static_cast<int>(wrapped < 0 ? wrapped + dim : wrapped);
}

}  // namespace

std::vector<int> CartTopology::coords_of(int rank) const {
  std::vector<int> coords(dims.size());
  for (std::size_t i = dims.size(); i > 0; --i) {
    coords[i - 1] = rank % dims[i - 1];
    rank /= dims[i - 1];
  }
  return coords;
}

int CartTopology::rank_of(std::span<const int> coords) const {
  int rank = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const int at = inside(coords[i], dims[i], periods[i] != 0);
    if (at < 0) return MPI_PROC_NULL;
    rank = rank * dims[i] + at;
  }
  return rank;
}

int CartTopology::shifted(int rank, int direction, std::int64_t displacement) const {
  std::vector<int> coords = coords_of(rank);
  const auto at = static_cast<std::size_t>(direction);
  // 64 bits: a displacement may be near INT_MAX.
  const int moved = inside(coords[at] + displacement, dims[at], periods[at] != 0);
  if (moved < 0) return MPI_PROC_NULL;
  coords[at] = moved;
  return rank_of(coords);
}

CartTopology CartTopology::sub_grid(std::span<const int> remain) const {
  CartTopology sub;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (remain[i] == 0) continue;
    sub.dims.push_back(dims[i]);
    sub.periods.push_back(periods[i]);
  }
  return sub;
}

CartTopology::SubGridRank CartTopology::rank_in_sub_grid(int rank, std::span<const int> remain) const {
  const std::vector<int> coords = coords_of(rank);
  SubGridRank sub_rank;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    // Both numbers are row-major: the key in the dimensions that remain, the color in the others.
    int& part = remain[i] != 0 ? sub_rank.key : sub_rank.color;
    part = part * dims[i] + coords[i];
  }
  return sub_rank;
}

std::span<const int> GraphTopology::neighbors(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  const auto first = static_cast<std::size_t>(at == 0 ? 0 : index[at - 1]);
  return std::span(edges).subspan(first, static_cast<std::size_t>(index[at]) - first);
}

int grid_size(std::span<const int> dims) {
  std::int64_t size = 1;
  for (const int dim : dims) {
    if (dim < 0) return -1;
    size *= dim;
    // Tested at each step, so the 64-bit product cannot overflow.
    if (size > INT32_MAX) return -1;
  }
  return static_cast<int>(size);
}

}  // namespace margay::mpi_adi
