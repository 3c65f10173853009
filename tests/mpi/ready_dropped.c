// A test of ready sends without a matching receive: they are dropped, counted and reported. They do not hang, and later
// messages arrive.
// ranks: 2
// reference: none, the program is erroneous by the standard
// stderr: [Rr]eady
#include "check.h"

enum { kTag = 4, kGoTag = 5, kBytes = 200000 };

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank();
  static unsigned char body[kBytes];
  static const int kSizes[] = {0, 30, 5000, kBytes};
  for (int i = 0; i < 4; ++i) {
    if (rank == 0) {
      MPI_Request request;
      pattern_fill(body, (size_t)kSizes[i], 3);
      MPI_Rsend(body, kSizes[i], MPI_BYTE, 1, kTag, MPI_COMM_WORLD);
      MPI_Irsend(body, kSizes[i], MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      // A send with the same envelope in standard mode: this one is queued.
      MPI_Isend(body, kSizes[i] / 2, MPI_BYTE, 1, kTag, MPI_COMM_WORLD, &request);
      signal_to(1, kGoTag);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      wait_for(1, kGoTag);
    } else {
      MPI_Status status;
      wait_for(0, kGoTag);
      MPI_Recv(body, kBytes, MPI_BYTE, 0, kTag, MPI_COMM_WORLD, &status);
      check_status("message behind dropped ones", &status, 0, kTag, kSizes[i] / 2);
      int flag = 1;
      MPI_Iprobe(0, kTag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      CHECK(!flag, "a dropped ready send of %d bytes is still there", kSizes[i]);
      signal_to(0, kGoTag);
    }
  }
  return suite_end("ready_dropped");
}
