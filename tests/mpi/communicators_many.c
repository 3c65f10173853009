// Tests of communicators that are created and freed thousands of times, more often than there are context identifiers,
// and many at once.
// ranks: 2
// reference: 2
// wires: shm uring
// sanitized: none, it takes 20 s there
#include "check.h"

enum { kRounds = 4200, kAtOnce = 500, kTag = 1 };

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int in = -1;
  const int zero = 0;
  MPI_Group world, first;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &zero, &first);
  MPI_Group_free(&world);
  for (int i = 0; i < kRounds; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (i % 100 == 0) {
      const int out = i + rank;
      MPI_Sendrecv(&out, 1, MPI_INT, to, kTag, &in, 1, MPI_INT, from, kTag, comm, MPI_STATUS_IGNORE);
      CHECK(in == i + from, "round %d: received %d", i, in);
    }
    MPI_Comm_free(&comm);
    // A rank that belongs to none of the new communicators returns the context that it reserved for the agreement.
    MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : MPI_UNDEFINED, 0, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank != 0), "round %d: the wrong ranks got a part", i);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    MPI_Comm_create(MPI_COMM_WORLD, first, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank != 0), "round %d: the wrong ranks got the first one's", i);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  }
  MPI_Group_free(&first);
  static MPI_Comm comms[kAtOnce];
  for (int i = 0; i < kAtOnce; ++i) MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &comms[i]);
  for (int i = 0; i < kAtOnce; ++i) {
    const int out = 7 * i + rank;
    MPI_Sendrecv(&out, 1, MPI_INT, to, kTag, &in, 1, MPI_INT, from, kTag, comms[i], MPI_STATUS_IGNORE);
    CHECK(in == 7 * i + from, "communicator %d: received %d", i, in);
  }
  // Frees them in another order than that of creation, and reuses the identifiers.
  for (int i = 0; i < kAtOnce; i += 2) MPI_Comm_free(&comms[i]);
  for (int i = 0; i < kAtOnce; i += 2) MPI_Comm_dup(comms[i + 1], &comms[i]);
  for (int i = 0; i < kAtOnce; ++i) {
    int sum = 0;
    const int one = 1;
    if (i % 10 == 0) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comms[i]);
    CHECK(i % 10 != 0 || sum == size, "communicator %d: sum %d", i, sum);
    MPI_Comm_free(&comms[i]);
  }
  return suite_end("communicators_many");
}
