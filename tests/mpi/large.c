// Tests of large messages: 64 MiB in one piece, both ways at once, with receives posted before and after, and a vector
// of that size.
// ranks: 2
// timeout: 90
#include "check.h"

enum { kTag = 4, kBytes = 64 << 20, kRows = 1 << 20 };

static void both_ways(int partner, unsigned char* out, unsigned char* in, int posted_before) {
  const int rank = world_rank();
  MPI_Request requests[2];
  memset(in, 0, kBytes);
  if (posted_before) MPI_Irecv(in, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Isend(out, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &requests[1]);
  if (!posted_before) {
    MPI_Probe(partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, &requests[0]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  const size_t wrong = pattern_mismatch(in, kBytes, (unsigned)(1 - rank));
  CHECK(wrong == kBytes, "byte %zu of 64 MiB is wrong", wrong);
}

// Sends every second double of a table of a million; the receiver stores them in every third.
static void large_vector(int rank, int partner, double* table) {
  MPI_Datatype column;
  const int stride = rank < partner ? 2 : 3;
  for (int i = 0; i < 3 * kRows; ++i) table[i] = rank < partner ? i : -1;
  MPI_Type_vector(kRows, 1, stride, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  if (rank < partner) {
    MPI_Send(table, 1, column, partner, kTag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(table, 1, column, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 3 * kRows; ++i) {
      const double expected = i % 3 == 0 ? i / 3 * 2 : -1;
      if (table[i] != expected) {
        CHECK(0, "double %d is %g, expected %g", i, table[i], expected);
        break;
      }
    }
  }
  MPI_Type_free(&column);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank);
  unsigned char* out = memory_of(kBytes);
  unsigned char* in = memory_of(kBytes);
  pattern_fill(out, kBytes, (unsigned)rank);
  both_ways(partner, out, in, 1);
  both_ways(partner, out, in, 0);
  large_vector(rank, partner, (double*)(void*)out);
  free(out);
  free(in);
  return suite_end("large");
}
