// Rank 1 ends or stops under a launcher that ends no process, and rank 0 detects it: left_alone HOW.
//   tested   rank 1 dies; rank 0 asks for its message by MPI_Test and MPI_Iprobe only
//   later    rank 1 sends a message and dies, both while rank 0 computes
//   queued   rank 1 dies while rank 0 has more to send to it than the wire holds
//   stopped  rank 1 is stopped for a while, and goes on
//   orderly  rank 1 finalizes its session and ends; rank 0 goes on without it
//   between  ranks 1 and 3 finalize their sessions and die, 3 when the others are in the next one; those two find out
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kSends = 20000, kComputeUs = 1200000 };

static void must(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "left_alone: %s\n", what);
  _exit(9);
}

static void must_fail(int error, int gone, const char* what) {
  int class_of_error = 0;
  char text[MPI_MAX_ERROR_STRING] = "";
  char named[64];
  int length = 0;
  snprintf(named, sizeof named, "rank %d (its process has ended)", gone);
  MPI_Error_class(error, &class_of_error);
  MPI_Error_string(error, text, &length);
  if (class_of_error != MPIX_ERR_PROC_FAILED) fprintf(stderr, "class %d: %s\n", class_of_error, text);
  must(class_of_error == MPIX_ERR_PROC_FAILED && strstr(text, named) != NULL, what);
}

static void stop_for_a_while(void) {
  const pid_t parent = getpid();
  if (fork() == 0) {
    usleep(kComputeUs);
    kill(parent, SIGCONT);
    _exit(0);
  }
  raise(SIGSTOP);
}

static void rank_1(const char* how) {
  int value = 7;
  if (strcmp(how, "stopped") == 0) stop_for_a_while();
  if (strcmp(how, "later") == 0 || strcmp(how, "stopped") == 0) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (strcmp(how, "stopped") != 0) kill(getpid(), SIGKILL);
}

static void rank_0(const char* how) {
  int value = 0;
  int flag = 0;
  int error = MPI_SUCCESS;
  MPI_Request request;
  if (strcmp(how, "tested") == 0) {
    MPI_Irecv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    while (!flag && error == MPI_SUCCESS) error = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    must_fail(error, 1, "MPI_Test");
    must_fail(MPI_Iprobe(1, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE), 1, "MPI_Iprobe");
  } else if (strcmp(how, "queued") == 0) {
    for (int i = 0; i < kSends && error == MPI_SUCCESS; ++i) {
      error = MPI_Ssend(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    must_fail(error, 1, "MPI_Ssend");
    must_fail(MPI_Send(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD), 1, "MPI_Send");
  } else {
    if (strcmp(how, "later") == 0) usleep(kComputeUs);
    must(MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS && value == 7,
         "what rank 1 sent is here");
    if (strcmp(how, "stopped") == 0) return;
    must_fail(MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE), 1, "MPI_Recv");
  }
}

// A rank that has left in order is not lost: a receive from any source does not fail.
static void session(void) {
  MPI_Session own = MPI_SESSION_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm all = MPI_COMM_NULL;
  int rank = 0;
  int value = 0;
  int flag = 1;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &own);
  MPI_Group_from_session_pset(own, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "left_alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
  MPI_Comm_rank(all, &rank);
  MPI_Group_free(&group);
  if (rank == 0) {
    usleep(kComputeUs);
    must(MPI_Iprobe(MPI_ANY_SOURCE, 0, all, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag,
         "rank 1 has left in order");
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, all, &request);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, all);
    must(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "a message of its own");
  }
  MPI_Comm_free(&all);
  MPI_Session_finalize(&own);
}

// The communicator of `count` members of the world, in a session that has begun.
static int make_among(MPI_Session session, int count, const int* members, MPI_Comm* out) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
  MPI_Group_incl(world, count, members, &group);
  const int error = MPI_Comm_create_from_group(group, "left_alone", MPI_INFO_NULL, MPI_ERRORS_RETURN, out);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return error;
}

static int shared_session(void) {
  const int all_ranks[] = {0, 1, 2, 3};
  MPI_Session all = MPI_SESSION_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
  must(make_among(all, 4, all_ranks, &comm) == MPI_SUCCESS, "all are in the first session");
  MPI_Comm_rank(comm, &rank);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&all);
  return rank;
}

// A process that died outside of any session causes an error in the next one, only at ranks that need it there.
static void between(void) {
  const int rank = shared_session();
  if (rank == 3) usleep(kComputeUs);
  if (rank % 2 == 1) kill(getpid(), SIGKILL);
  const int alive[] = {0, 2};
  MPI_Session next = MPI_SESSION_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &next);
  for (int gone = 1; gone <= 3; gone += 2) {
    const int pair[] = {rank, gone};
    must_fail(make_among(next, 2, pair, &comm), gone, "MPI_Comm_create_from_group");
  }
  must(make_among(next, 2, alive, &comm) == MPI_SUCCESS, "the survivors need no other rank");
  int value = rank;
  int other = -1;
  MPI_Sendrecv(&value, 1, MPI_INT, rank == 0 ? 1 : 0, 0, &other, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm,
               MPI_STATUS_IGNORE);
  must(other == 2 - rank, "a message from any of the living");
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&next);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  int rank = 0;
  if (strcmp(how, "orderly") == 0) {
    session();
    return 0;
  }
  if (strcmp(how, "between") == 0) {
    between();
    return 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  rank == 0 ? rank_0(how) : rank_1(how);
  if (strcmp(how, "stopped") != 0) _exit(0);
  MPI_Finalize();
  return 0;
}
