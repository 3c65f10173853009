// Tests of communication that is pending when MPI_Finalize is called: short messages just sent, and a long buffered
// one, which MPI_Finalize must complete as MPI_Buffer_detach would (MPI 4.0, section 11.2.2).
// ranks: 2 4
// reference: 2
#include "check.h"

enum { kTag = 2, kBytes = 300000 };

static unsigned char buffer[kBytes + MPI_BSEND_OVERHEAD];

static void as_sender(int partner, unsigned char* body) {
  MPI_Buffer_attach(buffer, sizeof buffer);
  pattern_fill(body, kBytes, 1);
  MPI_Bsend(body, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD);
  MPI_Send(body, 100, MPI_BYTE, partner, kTag + 1, MPI_COMM_WORLD);
}

static void as_receiver(int partner, unsigned char* body) {
  // Lets the sender enter MPI_Finalize first.
  usleep(100000);
  MPI_Recv(body, 100, MPI_BYTE, partner, kTag + 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(pattern_mismatch(body, 100, 1) == 100, "short message: wrong body");
  MPI_Recv(body, kBytes, MPI_BYTE, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(pattern_mismatch(body, kBytes, 1) == kBytes, "long buffered message: wrong body");
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank), last = world_size() - 1;
  unsigned char* body = memory_of(kBytes);
  if (rank < partner)
    as_sender(partner, body);
  else
    as_receiver(partner, body);
  MPI_Finalize();
  if (rank == last && suite_failures == 0) printf("finalize: no errors\n");
  free(body);
  return suite_failures != 0;
}
