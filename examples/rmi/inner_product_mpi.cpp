// The inner product of a distributed vector with itself, written with MPI (paper 004, section 7.3, table 3: "Explicit
// MPI uses MPI_Allreduce"):
//
//   margay run -n 4 inner_product_mpi [ELEMENTS [TURNS]]
#include <mpi.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "common.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::size_t elements = example::argument(argc, argv, 1, 1000000);
  const std::size_t turns = example::argument(argc, argv, 2, 1);
  const std::size_t first = example::first_of(elements, rank, size);
  std::vector<double> values(example::first_of(elements, rank + 1, size) - first);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = example::small_number(first + i);

  double best = 1e9, product = 0;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    const example::Clock clock;
    const double mine = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    MPI_Allreduce(&mine, &product, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    best = std::min(best, clock.seconds());
  }
  const bool right = product == example::product_of_small_numbers(elements);
  if (rank == 0) example::report("inner_product_mpi", size, elements, best, right);
  MPI_Finalize();
  return right ? 0 : 1;
}
