// A profiling tool with the standard's name shift: counts sends and bytes, and prints them at MPI_Finalize. Linked in
// front of the MPI library, as an object, an archive or a shared library, or preloaded. MPI_Pcontrol has the meanings
// that the standard requires of tools: 0 off, 1 on, 2 flush the results.
#include <mpi.h>
#include <stdio.h>

static int sends = 0, on = 1;
static long bytes = 0;

int MPI_Send(const void* body, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  int size = 0;
  PMPI_Type_size(type, &size);
  if (on) {
    ++sends;
    bytes += (long)size * count;
  }
  return PMPI_Send(body, count, type, to, tag, comm);
}

int MPI_Pcontrol(const int level, ...) {
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (level < 2) on = level;
  if (level == 2) printf("tool: rank %d so far %d messages\n", rank, sends);
  return PMPI_Pcontrol(level);
}

int MPI_Finalize(void) {
  int rank = -1;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("tool: rank %d sent %d messages, %ld bytes\n", rank, sends, bytes);
  return PMPI_Finalize();
}
