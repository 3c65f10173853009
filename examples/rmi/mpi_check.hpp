// The input and the check of the sorts that are written with MPI.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <span>
#include <vector>

#include "common.hpp"

namespace example {

// The summary of the parts of all ranks, in their order, on rank 0.
inline Summary summary_of_all(std::span<const int> mine) {
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Summary part = summary_of(mine);
  std::vector<Summary> parts(static_cast<std::size_t>(size));
  MPI_Gather(&part, sizeof part, MPI_BYTE, parts.data(), sizeof part, MPI_BYTE, 0, MPI_COMM_WORLD);
  Summary all;
  for (const Summary& other : parts) all = combined(all, other);
  return all;
}

// main() of a sort: NAME [INTEGERS [TURNS]]. `sort` takes a rank's input and returns its bucket.
template <class Sort>
int run_sort(int argc, char** argv, const char* program, Sort&& sort) {
  MPI_Init(&argc, &argv);
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::size_t integers = argument(argc, argv, 1, 1000000);
  const std::size_t turns = argument(argc, argv, 2, 1);
  std::vector<int> input;
  for (std::size_t i = first_of(integers, rank, size); i < first_of(integers, rank + 1, size); ++i)
    input.push_back(random_integer(i));

  double best = 1e9;
  bool right = true;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    std::vector<int> copy = input;
    MPI_Barrier(MPI_COMM_WORLD);
    const Clock clock;
    const std::vector<int> bucket = sort(copy, size);
    MPI_Barrier(MPI_COMM_WORLD);
    best = std::min(best, clock.seconds());
    const Summary before = summary_of_all(input), after = summary_of_all(bucket);
    right = right && (rank != 0 || is_sorted_input(before, after));
  }
  const int status = rank == 0 ? report(program, size, integers, best, right) : 0;
  MPI_Finalize();
  return status;
}

}  // namespace example
