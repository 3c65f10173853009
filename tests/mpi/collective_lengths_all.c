// Tests of collective calls whose members pass different amounts of data, none of them 0 bytes: each collective but
// Alltoallw, Reduce_scatter and the neighborhood collectives (MPI 4.0, 6.2 requires equal amounts). At least one rank
// gets MPI_ERR_TRUNCATE, no rank waits for ever, and later calls on other communicators are right. Lengths are on both
// sides of the one at which messages need a handshake, and of those at which algorithms change.
//
// Not guaranteed: an empty block sends no message. If one rank passes 0 bytes for a block and the other more, in
// Gatherv, Scatterv, Allgatherv, Alltoallv, Alltoallw and the neighborhood collectives, and in Alltoall by messages,
// the rank that expects the block waits for ever. --deadlock abort ends such a job, --check-types reports both ranks.
// Different roots may also deadlock.
// ranks: 2 3 8
// reference: none, MPICH 4.0.2 waits for ever, or reports nothing
#include "check.h"

enum { kMost = 400000, kRanksMax = 64 };

static const char* const kNames[] = {"bcast",   "gather",    "scatter",   "allgather", "alltoall",
                                     "reduce",  "allreduce", "scan",      "exscan",    "reduce_scatter_block",
                                     "gatherv", "scatterv",  "alltoallv", "allgatherv"};
enum { kOperations = sizeof kNames / sizeof *kNames };

static int call(int operation, int bytes, int nonblocking, char* send, char* receive, MPI_Comm comm) {
  const int words = bytes / 8;
  int size, counts[kRanksMax], places[kRanksMax], code = MPI_SUCCESS;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < size; ++i) {
    counts[i] = bytes;
    places[i] = i * bytes;
  }
#define CALL(Name, iname, ...) \
  code = nonblocking ? MPI_I##iname(__VA_ARGS__, comm, &request) : MPI_##Name(__VA_ARGS__, comm)
  switch (operation) {
    case 0:
      CALL(Bcast, bcast, send, bytes, MPI_BYTE, 0);
      break;
    case 1:
      CALL(Gather, gather, send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, 0);
      break;
    case 2:
      CALL(Scatter, scatter, send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE, 0);
      break;
    case 3:
      CALL(Allgather, allgather, send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE);
      break;
    case 4:
      CALL(Alltoall, alltoall, send, bytes, MPI_BYTE, receive, bytes, MPI_BYTE);
      break;
    case 5:
      CALL(Reduce, reduce, send, receive, words, MPI_LONG, MPI_SUM, 0);
      break;
    case 6:
      CALL(Allreduce, allreduce, send, receive, words, MPI_LONG, MPI_SUM);
      break;
    case 7:
      CALL(Scan, scan, send, receive, words, MPI_LONG, MPI_SUM);
      break;
    case 8:
      CALL(Exscan, exscan, send, receive, words, MPI_LONG, MPI_SUM);
      break;
    case 9:
      CALL(Reduce_scatter_block, reduce_scatter_block, send, receive, words, MPI_LONG, MPI_SUM);
      break;
    case 10:
      CALL(Gatherv, gatherv, send, bytes, MPI_BYTE, receive, counts, places, MPI_BYTE, 0);
      break;
    case 11:
      CALL(Scatterv, scatterv, send, counts, places, MPI_BYTE, receive, bytes, MPI_BYTE, 0);
      break;
    case 12:
      CALL(Alltoallv, alltoallv, send, counts, places, MPI_BYTE, receive, counts, places, MPI_BYTE);
      break;
    default:
      CALL(Allgatherv, allgatherv, send, bytes, MPI_BYTE, receive, counts, places, MPI_BYTE);
      break;
  }
#undef CALL
  if (code == MPI_SUCCESS && nonblocking) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  return code == MPI_SUCCESS ? MPI_SUCCESS : class_of(code);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  static const int lengths[][2] = {{8, 304}, {8, 40000}, {40000, 8}, {20000, 40000}, {kMost, 8}, {8, kMost}};
  char* send = calloc((size_t)size, kMost);
  char* receive = calloc((size_t)size, kMost);
  for (int operation = 0; operation < kOperations; ++operation) {
    for (int pair = 0; pair < 6; ++pair) {
      for (int nonblocking = 0; nonblocking < 2; ++nonblocking) {
        const int odd = (operation + pair) % size;
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        const int class = call(operation, lengths[pair][rank == odd], nonblocking, send, receive, comm);
        CHECK(class == MPI_SUCCESS || class == MPI_ERR_TRUNCATE, "%s: class %d", kNames[operation], class);
        int worst = 0;
        MPI_Allreduce(&class, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
        CHECK(worst == MPI_ERR_TRUNCATE, "%s, %d and %d bytes, rank %d, form %d: no rank got an error",
              kNames[operation], lengths[pair][0], lengths[pair][1], odd, nonblocking);
        MPI_Comm_free(&comm);
      }
    }
  }
  free(send);
  free(receive);
  return suite_end("collective_lengths_all");
}
