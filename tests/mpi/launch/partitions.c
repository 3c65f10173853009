/* Partitions from rank 0 to rank 1: two rounds, with different numbers on both sides (tag 7); into a type with gaps
   (tag 8); so many that several share a message (tag 9). For a trace. */
#include <mpi.h>
#include <stdlib.h>

enum { kHalves = 7, kGaps, kMany, kInts = 400, kDoubles = 15, kChars = 2000 };

static int rank;

static void rounds(int count, MPI_Request request, int partitions) {
  for (int i = 0; i < count; ++i) {
    MPI_Start(&request);
    if (rank == 0) MPI_Pready_range(0, partitions - 1, request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double* const data = calloc(2 * kChars, sizeof(double));
  MPI_Datatype column;
  MPI_Type_vector(1, 1, 1, MPI_DOUBLE, &column);
  MPI_Datatype spaced;
  MPI_Type_create_resized(column, 0, 2 * sizeof(double), &spaced);
  MPI_Type_set_name(spaced, "every other");
  MPI_Type_commit(&spaced);
  MPI_Request request;
  if (rank == 0) {
    MPI_Psend_init(data, 4, kInts / 4, MPI_INT, 1, kHalves, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    rounds(2, request, 4);
    MPI_Psend_init(data, 3, kDoubles / 3, MPI_DOUBLE, 1, kGaps, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    rounds(1, request, 3);
    MPI_Psend_init(data, kChars, 1, MPI_CHAR, 1, kMany, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    rounds(1, request, kChars);
  } else {
    MPI_Precv_init(data, 2, kInts / 2, MPI_INT, 0, kHalves, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    rounds(2, request, 2);
    MPI_Precv_init(data, 3, kDoubles / 3, spaced, 0, kGaps, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    rounds(1, request, 3);
    MPI_Precv_init(data, 2, kChars / 2, MPI_CHAR, 0, kMany, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    rounds(1, request, 2);
  }
  MPI_Type_free(&column);
  MPI_Type_free(&spaced);
  free(data);
  MPI_Finalize();
  return 0;
}
