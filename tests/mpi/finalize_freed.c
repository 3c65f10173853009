// Tests of freed requests of sends and of their receives: they are complete at the end of MPI_Finalize. Their messages
// arrive, in any protocol, although the program does not wait for them.
// ranks: 2 3 5
// reference: none, MPICH does not wait for them
#include "check.h"

enum { kSizes = 3, kLongest = 200000 };

int main(int argc, char** argv) {
  static const int sizes[kSizes] = {8, 3000, kLongest};
  static unsigned char in[2 * kSizes][kLongest], out[2 * kSizes][kLongest];
  MPI_Request request;
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0; i < 2 * kSizes; ++i) {
    MPI_Irecv(in[i], sizes[i / 2], MPI_BYTE, left, i, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  for (int i = 0; i < 2 * kSizes; ++i) {
    pattern_fill(out[i], (size_t)sizes[i / 2], (unsigned)(100 * rank + i));
    if (i % 2) {
      MPI_Issend(out[i], sizes[i / 2], MPI_BYTE, right, i, MPI_COMM_WORLD, &request);
    } else {
      MPI_Isend(out[i], sizes[i / 2], MPI_BYTE, right, i, MPI_COMM_WORLD, &request);
    }
    MPI_Request_free(&request);
  }
  const int result = suite_end("finalize_freed");
  static unsigned char expected[kLongest];
  for (int i = 0; i < 2 * kSizes; ++i) {
    pattern_fill(expected, (size_t)sizes[i / 2], (unsigned)(100 * left + i));
    if (memcmp(in[i], expected, (size_t)sizes[i / 2]) == 0) continue;
    fprintf(stderr, "rank %d: message %d of rank %d did not come\n", rank, i, left);
    return 1;
  }
  return result;
}
