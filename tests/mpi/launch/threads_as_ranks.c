// Ranks that are threads of one process (`margay run --threads`): each begins MPI for itself. The first argument is the
// mode: "whole" communicates in every way, "session" in sessions only; the others state how the rank named by the
// second argument, or its process, ends. The third argument is a status.
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Declared in no header, because it is for tests: programs call a library's entry function.
int MPIX_Margay_run_threads(int argc, char** argv, int (*entry)(int, char**));

static void fail(const char* what) {
  fprintf(stderr, "threads_as_ranks: %s is wrong\n", what);
  MPI_Abort(MPI_COMM_WORLD, 9);
}

#define EXPECT(condition) \
  if (!(condition)) fail(#condition)

enum { kLong = 300000 };

// The arguments.
static int chosen, number;
static const char* way;

static void pass_around(MPI_Comm comm, int length) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* const out = malloc(sizeof(int) * length);
  int* const in = malloc(sizeof(int) * length);
  for (int i = 0; i < length; ++i) out[i] = rank + i;
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Sendrecv(out, length, MPI_INT, right, 3, in, length, MPI_INT, left, 3, comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < length; ++i) EXPECT(in[i] == left + i);
  // Messages to all ranks at once.
  for (int peer = 0; peer < size; ++peer) {
    MPI_Request request;
    MPI_Isend(out, length, MPI_INT, peer, 4, comm, &request);
    MPI_Recv(in, length, MPI_INT, peer, 4, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    EXPECT(in[0] == peer && in[length - 1] == peer + length - 1);
  }
  free(out);
  free(in);
}

static void collect(MPI_Comm comm) {
  int rank, size, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  EXPECT(sum == size * (size - 1) / 2);
  int* const all = malloc(sizeof(int) * size * 5000);
  int* const mine = malloc(sizeof(int) * 5000);
  for (int i = 0; i < 5000; ++i) mine[i] = rank;
  MPI_Allgather(mine, 5000, MPI_INT, all, 5000, MPI_INT, comm);
  for (int i = 0; i < size * 5000; ++i) EXPECT(all[i] == i / 5000);
  MPI_Bcast(all, size * 5000, MPI_INT, size - 1, comm);
  MPI_Barrier(comm);
  free(all);
  free(mine);
}

static void access_window(MPI_Comm comm) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int* memory;
  MPI_Win window;
  MPI_Win_allocate(sizeof(int) * size, sizeof(int), MPI_INFO_NULL, comm, &memory, &window);
  MPI_Win_fence(0, window);
  for (int peer = 0; peer < size; ++peer) MPI_Put(&rank, 1, MPI_INT, peer, rank, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  for (int i = 0; i < size; ++i) EXPECT(memory[i] == i);
  MPI_Win_fence(0, window);
  const int one = 1;
  for (int peer = 0; peer < size; ++peer) {
    MPI_Win_lock(MPI_LOCK_SHARED, peer, 0, window);
    MPI_Accumulate(&one, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, window);
    MPI_Win_unlock(peer, window);
  }
  MPI_Win_fence(0, window);
  EXPECT(memory[0] == size);
  MPI_Win_free(&window);
}

// The ranks of a node, and their shared memory.
static void share_memory(void) {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank, size, unit;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_size(node, &size);
  int* memory;
  MPI_Win window;
  MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &memory, &window);
  MPI_Win_fence(0, window);
  *memory = 100 + rank;
  MPI_Win_fence(0, window);
  for (int peer = 0; peer < size; ++peer) {
    MPI_Aint bytes;
    int* theirs;
    MPI_Win_shared_query(window, peer, &bytes, &unit, &theirs);
    EXPECT(*theirs == 100 + peer);
  }
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Comm_free(&node);
}

static int whole(int argc, char** argv) {
  int rank, size, flag = -1;
  MPI_Initialized(&flag);
  if (flag != 0) return 8;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Is_thread_main(&flag);
  EXPECT(flag == 1);
  // The ranks have copies of the arguments.
  if (argc > 1) argv[1][0] = (char)('a' + rank);
  pass_around(MPI_COMM_WORLD, 10);
  pass_around(MPI_COMM_WORLD, kLong);
  collect(MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  pass_around(half, 1000);
  collect(half);
  access_window(MPI_COMM_WORLD);
  access_window(half);
  share_memory();
  MPI_Comm_free(&half);
  EXPECT(argc < 2 || argv[1][0] == (char)('a' + rank));
  printf("rank %d of %d: whole\n", rank, size);
  MPI_Finalize();
  MPI_Finalized(&flag);
  return flag ? 0 : 8;
}

static int is(const char* name) {
  return strcmp(way, name) == 0;
}

// A receive that never matches, in all ranks but one, which leaves. The end of a session, unlike MPI_Finalize, does not
// wait for other ranks.
static int wait_for_ended(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Info info;
  int rank, size, nothing;
  // Another thread of the rank could send, so a deadlock is proven with this level only.
  MPI_Info_create(&info);
  MPI_Info_set(info, "thread_level", "MPI_THREAD_SINGLE");
  MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Info_free(&info);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "here", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank != chosen) MPI_Recv(&nothing, 1, MPI_INT, (rank + 1) % size, 5, comm, MPI_STATUS_IGNORE);
  MPI_Session_finalize(&session);
  return 0;
}

// Only a session, twice.
static int in_sessions(void) {
  for (int i = 0; i < 2; ++i) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "here", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    pass_around(comm, 10);
    collect(comm);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Session_finalize(&session);
  }
  return 0;
}

static void* call_from_own_thread(void* result) {
  MPI_Comm_rank(MPI_COMM_WORLD, result);
  return NULL;
}

static int end_otherwise(int argc, char** argv) {
  int rank = -1, size = -1;
  if (is("session")) return in_sessions();
  if (is("ended")) return wait_for_ended();
  // One rank of the process returns.
  static int begun = 0;
  if (is("without") && atoi(getenv("MARGAY_RANK")) + __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED) == chosen)
    return number;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (is("deadlock") && rank != chosen) {
    int nothing;
    MPI_Recv(&nothing, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rank == chosen) {
    if (is("exit")) exit(number);
    if (is("abort")) MPI_Abort(MPI_COMM_WORLD, number);
    if (is("fatal")) MPI_Send(&rank, 1, MPI_INT, 4711, 0, MPI_COMM_WORLD);
    if (is("leave")) return number;
    if (is("end")) pthread_exit(NULL);
    if (is("crash")) raise(SIGSEGV);
    if (is("killed")) kill(getpid(), SIGKILL);
    if (is("forked")) {
      // The child ends as an ordinary process, and the rank continues.
      int status = -1;
      const pid_t child = fork();
      if (child == 0) return number;
      waitpid(child, &status, 0);
      EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == number);
    }
    if (is("leak")) {
      MPI_Comm lost;
      MPI_Comm_dup(MPI_COMM_SELF, &lost);
    }
    if (is("thread")) {
      pthread_t thread;
      int got = 0;
      pthread_create(&thread, NULL, call_from_own_thread, &got);
      pthread_join(thread, NULL);
    }
  }
  if (is("sleep")) {
    printf("rank %d sleeps\n", rank);
    fflush(stdout);
    if (rank == chosen) sleep(number);
  }
  const int waits = is("exit") || is("abort") || is("fatal") || is("leave") || is("end") || is("crash") ||
                    is("killed") || is("thread") || is("sleep");
  if (waits) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  // The other ranks continue, in MPI or outside of it.
  if (is("finalized") && rank == chosen) exit(number);
  if (is("pthread_exit") && rank == chosen) pthread_exit(NULL);
  return is("status") && rank == chosen ? number : 0;
}

int main(int argc, char** argv) {
  way = argc > 1 ? argv[1] : "whole";
  if (argc > 2) chosen = atoi(argv[2]);
  if (argc > 3) number = atoi(argv[3]);
  if (is("plain")) {
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return 0;
  }
  if (is("in_session")) return in_sessions();
  if (is("twice")) MPIX_Margay_run_threads(argc, argv, whole);
  const int status = MPIX_Margay_run_threads(argc, argv, is("whole") || is("twice") ? whole : end_otherwise);
  return status;
}
