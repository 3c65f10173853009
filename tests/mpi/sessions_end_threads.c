// ranks: 2
// timeout: 30
// reference: none, MPICH's process crashes
// A test of a session that a thread begins while MPI_Finalize waits for a late rank: the session has its own messages.
// A third thread makes the calls that are allowed at any time (MPI 4.0, 11.4.1), from before MPI_Init until after
// MPI_Finalize.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "check.h"

enum { kPidTag = 4 };

static atomic_int early_calls, finalizing, finalized, stop;
static int late_pid;  // of the rank that calls MPI_Finalize late, after a signal

static void* call_early(void* nothing) {
  while (!atomic_load(&stop)) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    char value[20] = "";
    int flag = 0;
    MPI_Info_create(&info);
    MPI_Info_set(info, "a", "b");
    MPI_Info_get(info, "a", 10, value, &flag);
    CHECK(flag && strcmp(value, "b") == 0, "the value is %s", value);
    MPI_Info_free(&info);
    MPI_Session_create_errhandler((MPI_Session_errhandler_function*)&call_early, &handler);
    MPI_Errhandler_free(&handler);
    atomic_fetch_add(&early_calls, 1);
  }
  return nothing;
}

static void* begin_late(void* nothing) {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  int got = -1, mine = 42, cancelled = -1;
  while (!atomic_load(&finalizing)) usleep(1000);
  usleep(50000);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Group_from_session_pset(session, "mpi://SELF", &group);
  MPI_Comm_create_from_group(group, "late", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  MPI_Irecv(&got, 1, MPI_INT, 0, 3, comm, &request);
  CHECK(!atomic_load(&finalized), "MPI_Finalize ended before all ranks were in it");
  kill(late_pid, SIGUSR2);
  while (!atomic_load(&finalized)) usleep(1000);
  MPI_Send(&mine, 1, MPI_INT, 0, 3, comm);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(got == 42 && !cancelled, "a receive beside MPI_Finalize: got %d, cancelled %d", got, cancelled);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return nothing;
}

int main(int argc, char** argv) {
  pthread_t early, late;
  int provided = -1, number = 0;
  sigset_t called;
  sigemptyset(&called);
  sigaddset(&called, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &called, NULL);  // for all threads created from here on
  pthread_create(&early, NULL, call_early, NULL);
  while (atomic_load(&early_calls) == 0) usleep(1000);
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const int rank = world_rank();
  int pid = getpid();
  if (rank == 0) {
    MPI_Recv(&late_pid, 1, MPI_INT, 1, kPidTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_create(&late, NULL, begin_late, NULL);
  } else {
    MPI_Send(&pid, 1, MPI_INT, 0, kPidTag, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("sessions_end_threads: no errors\n");
  fflush(stdout);
  if (rank == 1) sigwait(&called, &number);
  atomic_store(&finalizing, 1);
  MPI_Finalize();
  atomic_store(&finalized, 1);
  if (rank == 0) pthread_join(late, NULL);
  atomic_store(&stop, 1);
  pthread_join(early, NULL);
  return suite_failures != 0;
}
