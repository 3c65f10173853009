// Tests of another thread's session beside a world of MPI_THREAD_FUNNELED, while the main thread exchanges messages,
// waits inside MPI, or calls no MPI.
// ranks: 1 2 3
// reference: none (MPICH 4.0 is initialized with one level for all)
// timeout: 30
// libraries: -pthread
#include <pthread.h>

#include "check.h"

enum { kMessages = 2000, kGroups = 50, kTag = 1, kGoTag = 2 };

struct Library {
  int failures;
  MPI_Comm self;
  pthread_barrier_t joined;  // the session exists
};

// Messages on a communicator of its own, to the rank itself, and groups.
static void* library(void* argument) {
  struct Library* library = argument;
  MPI_Session session;
  MPI_Group group;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  for (int i = 0; i < kGroups; ++i) {
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Group_free(&group);
  }
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Comm_create_from_group(group, "join", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &library->self);
  MPI_Group_free(&group);
  for (int i = 0; i < kMessages; ++i) {
    int in = -1;
    MPI_Request request;
    MPI_Isend(&i, 1, MPI_INT, 0, kTag, library->self, &request);
    if (i % 2 == 0) MPI_Probe(0, kTag, library->self, MPI_STATUS_IGNORE);
    MPI_Recv(&in, 1, MPI_INT, 0, kTag, library->self, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (in != i) ++library->failures;
  }
  MPI_Comm_free(&library->self);
  pthread_barrier_wait(&library->joined);
  MPI_Session_finalize(&session);
  return NULL;
}

static void ring(void) {
  const int rank = world_rank(), size = world_size();
  for (int i = 0; i < kMessages; ++i) {
    int in = -1;
    MPI_Request request;
    MPI_Isend(&i, 1, MPI_INT, (rank + 1) % size, kTag, MPI_COMM_WORLD, &request);
    MPI_Recv(&in, 1, MPI_INT, (rank + size - 1) % size, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (in != i) CHECK(0, "message %d has %d", i, in);
  }
}

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const int rank = world_rank(), size = world_size();
  struct Library first = {.failures = 0};
  pthread_t thread;
  pthread_barrier_init(&first.joined, NULL, 2);
  pthread_create(&thread, NULL, library, &first);
  if (rank == 0) {
    // Outside of MPI until the session exists; the others wait inside MPI for this rank's message.
    pthread_barrier_wait(&first.joined);
    for (int to = 1; to < size; ++to) MPI_Send(&to, 1, MPI_INT, to, kGoTag, MPI_COMM_WORLD);
  } else {
    int go = -1;
    MPI_Recv(&go, 1, MPI_INT, 0, kGoTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(go == rank, "received %d", go);
  }
  ring();
  if (rank != 0) pthread_barrier_wait(&first.joined);
  pthread_join(thread, NULL);
  CHECK(first.failures == 0, "%d failures in the library's thread", first.failures);
  ring();
  return suite_end("sessions_join_threads");
}
