// A benchmark of the first long body between two ranks, with possibly more ranks than processors: rank 0 sends one to
// each other rank in turn, and then as many bytes in bodies of kPartBytes.
//   first [--sizes BYTES]
// Lines: "first SIZE VALUE MB/s" and "in_parts SIZE VALUE MB/s". Measured once in a run, because only one body is the
// first.
#include <stdlib.h>
#include <string.h>

#include "mpi_common.h"

enum { kPartBytes = 16 << 20 };

static double send_in(struct World world, char* buffer, long size, long part) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = now_s();
  for (int to = 1; to < world.size; to++) {
    for (long at = 0; at < size; at += part) {
      const int bytes = (int)(size - at < part ? size - at : part);
      if (world.rank == 0) MPI_Send(buffer + at, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD);
      if (world.rank == to) MPI_Recv(buffer + at, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return now_s() - start;
}

int main(int argc, char** argv) {
  const struct World world = begin(&argc, &argv, 0);
  struct Options options = {.sizes = {256 << 20}, .size_count = 1};
  read_options(argc, argv, &options);
  const long size = options.sizes[0];
  char* buffer = new_buffer((size_t)size);
  fill_pattern(buffer, (size_t)size, (unsigned)world.rank);
  const double first = send_in(world, buffer, size, size);
  if (world.rank != 0) check_pattern(buffer, (size_t)size, 0, "first body");
  const double in_parts = send_in(world, buffer, size, kPartBytes);
  const double bytes = (double)size * (world.size - 1);
  if (world.rank == 0) report("first", size, bytes / first / 1e6, "MB/s");
  if (world.rank == 0) report("in_parts", size, bytes / in_parts / 1e6, "MB/s");
  free(buffer);
  MPI_Finalize();
  return 0;
}
