// ranks: 1 2 3 4 8
// timeout: 30
// reference: none, MPICH's process crashes
// Tests of sessions after MPI_Finalize in processes that never had one before (MPI 4.0, 11.3), while their peers end:
// by a return from main, by _exit, or by exec of another program.
#include "check.h"

static MPI_Session session_of_mine(void) {
  MPI_Session session = MPI_SESSION_NULL;
  const int code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  CHECK(code == MPI_SUCCESS && session != MPI_SESSION_NULL, "MPI_Session_init: %d", code);
  return session;
}

// Ranks from 0 to `last` in steps of `step`.
static MPI_Comm comm_of(MPI_Session session, int last, int step) {
  MPI_Group world = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  int range[1][3] = {{0, last, step}};
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_range_incl(world, 1, range, &some);
  const int code = MPI_Comm_create_from_group(some, "some", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  CHECK(code == MPI_SUCCESS && comm != MPI_COMM_NULL, "MPI_Comm_create_from_group: %d", code);
  MPI_Group_free(&some);
  MPI_Group_free(&world);
  return comm;
}

static void check_works(MPI_Comm comm, int bytes) {
  int rank = -1, size = 0, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK(sum == size * (size - 1) / 2, "sum %d of %d ranks", sum, size);
  const int left = (rank + size - 1) % size;
  char* const mine = malloc((size_t)bytes);
  char* const got = malloc((size_t)bytes);
  memset(mine, rank + 1, (size_t)bytes);
  memset(got, 0, (size_t)bytes);
  MPI_Sendrecv(mine, bytes, MPI_CHAR, (rank + 1) % size, 3, got, bytes, MPI_CHAR, left, 3, comm, MPI_STATUS_IGNORE);
  CHECK(got[0] == left + 1 && got[bytes - 1] == left + 1, "%d bytes: got %d from %d", bytes, got[bytes - 1], left);
  free(mine);
  free(got);
}

// The last rank ends its session, and then its process, while the others continue in theirs: a receive from any source
// must not fail for a lost peer.
static void last_rank_leaves(int rank, int size) {
  MPI_Session session = session_of_mine();
  MPI_Comm comm = comm_of(session, size - 1, 1);
  check_works(comm, 10);
  if (rank == size - 1) {
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    _exit(suite_failures != 0);
  }
  int got = 0, mine = 4711;
  if (rank == 1) {
    usleep(100000);
    MPI_Send(&mine, 1, MPI_INT, 0, 5, comm);
  }
  if (rank == 0) {
    const int code = MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, MPI_STATUS_IGNORE);
    CHECK(code == MPI_SUCCESS && got == 4711, "a receive from anybody: %d, got %d", code, got);
  }
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  check_works(MPI_COMM_WORLD, 100);
  check_works(MPI_COMM_WORLD, 300000);
  // MPI_Finalize detaches it.
  static char buffer[1000], another[1000];
  MPI_Buffer_attach(buffer, sizeof buffer);
  const int failed = suite_end("sessions_after");
  if (size > 2) last_rank_leaves(rank, size);
  if (rank % 4 == 1) {
    fflush(stdout);
    _exit(failed != 0 || suite_failures != 0);
  }
  if (rank % 8 == 3) {
    fflush(stdout);
    execlp("sh", "sh", "-c", failed != 0 || suite_failures != 0 ? "exit 1" : "exit 0", (char*)NULL);
  }
  if (rank % 2 != 0) return failed != 0 || suite_failures != 0;
  for (int life = 0; life < 3; ++life) {
    usleep(20000);  // most of the others have ended by then
    MPI_Session session = session_of_mine();
    MPI_Comm comm = comm_of(session, size > 2 ? size - 2 : 0, 2);
    check_works(comm, 10);
    check_works(comm, 500000);
    void* detached = NULL;
    int bytes = 0;
    const int code = MPI_Buffer_attach(another, sizeof another);
    MPI_Buffer_detach(&detached, &bytes);
    CHECK(code == MPI_SUCCESS && detached == another, "MPI_Buffer_attach: %d", code);
    if (life != 1) MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
  }
  return failed != 0 || suite_failures != 0;
}
