// A C++ program through mpicxx: mpi.h inside C++ with its standard library.
#include <mpi.h>

#include <iostream>
#include <numeric>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = -1, size = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<int> all(static_cast<std::size_t>(size));
  MPI_Allgather(&rank, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  if (rank == 0) std::cout << "sum of ranks " << std::accumulate(all.begin(), all.end(), 0) << std::endl;
  MPI_Finalize();
  return 0;
}
