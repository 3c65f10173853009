// The polling of wires (margay/polling.h): intervals, selective polling, counts, wrong arguments. The first argument is
// the part; the ranks are on two nodes of two ranks each unless a comment states otherwise.
#include <margay/polling.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBegin = 1, kData, kSent, kMessages = 5, kTries = 20000 };

static int rank, size, problems;

static void expect(int holds, const char* words) {
  if (holds) return;
  ++problems;
  printf("rank %d: expected: %s\n", rank, words);
}

static unsigned long long polls_of(const char* wire, unsigned long long* hits, int* interval) {
  unsigned long long polls = 0;
  expect(MPIX_Margay_poll_counts(wire, &polls, hits, NULL, interval) == MPI_SUCCESS, "counts of a wire");
  return polls;
}

// Makes rounds of progress in which nothing arrives.
static void poll_often(int tries) {
  for (int i = 0; i < tries; ++i) {
    int flag = 1;
    MPI_Iprobe(MPI_ANY_SOURCE, kData, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect(!flag, "no message of data");
  }
}

// Ranks 0 and 1 are on one node, 2 and 3 on another. Messages from rank 2 wait while rank 0 does not poll tcp.
static void selective(void) {
  int value = 0, token = 0;
  // The connections are made first, because they need both sides.
  if (rank == 2) MPI_Send(&token, 1, MPI_INT, 0, kBegin, MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(&token, 1, MPI_INT, 2, kBegin, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 2) {
    MPI_Recv(&token, 1, MPI_INT, 1, kBegin, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < kMessages; ++i) MPI_Send(&i, 1, MPI_INT, 0, kData, MPI_COMM_WORLD);
    MPI_Send(&token, 1, MPI_INT, 1, kSent, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&token, 1, MPI_INT, 0, kBegin, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&token, 1, MPI_INT, 2, kBegin, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, 2, kSent, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&token, 1, MPI_INT, 0, kSent, MPI_COMM_WORLD);
  } else if (rank == 0) {
    unsigned long long hits = 0, hits_later = 0;
    int interval = 0;
    expect(MPIX_Margay_polling("tcp", 0) == MPI_SUCCESS, "polling off");
    const unsigned long long polls = polls_of("tcp", &hits, &interval);
    expect(interval == 0, "no interval while polling is off");
    MPI_Send(&token, 1, MPI_INT, 1, kBegin, MPI_COMM_WORLD);
    MPI_Recv(&token, 1, MPI_INT, 1, kSent, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    poll_often(kTries);
    expect(polls_of("tcp", &hits_later, NULL) == polls, "no poll while polling is off");
    expect(hits_later == hits, "no hit while polling is off");
    expect(MPIX_Margay_polling("tcp", 1) == MPI_SUCCESS, "polling on");
    for (int i = 0; i < kMessages; ++i) {
      MPI_Recv(&value, 1, MPI_INT, 2, kData, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(value == i, "messages in order");
    }
    polls_of("tcp", &hits_later, &interval);
    expect(hits_later > hits && interval > 0, "hits after polling is on again");
  }
}

// MPI_Finalize needs wires that the program has left off, on each rank.
static void off_at_end(void) {
  expect(MPIX_Margay_polling("tcp", 0) == MPI_SUCCESS && MPIX_Margay_polling("shm", 0) == MPI_SUCCESS, "both off");
  // Nothing arrives, but sends leave.
  int token = rank;
  MPI_Request request;
  MPI_Isend(&token, 1, MPI_INT, (rank + 2) % size, kData, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// tcp in every 1000th round. Wake-ups of the rank, and of its coprocessor, add polls.
static void interval(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  expect(MPIX_Margay_poll_interval("tcp", 1000) == MPI_SUCCESS, "an interval");
  int rounds = 0;
  const unsigned long long tcp = polls_of("tcp", NULL, &rounds), shm = polls_of("shm", NULL, NULL);
  expect(rounds == 1000, "the interval that was set");
  poll_often(kTries);
  const unsigned long long more_tcp = polls_of("tcp", NULL, NULL) - tcp, more_shm = polls_of("shm", NULL, NULL) - shm;
  expect(more_shm >= kTries, "shared memory in each round");
  expect(1000 * (more_tcp + 1) >= more_shm, "tcp in every 1000th round");
  expect(more_tcp * 10 < more_shm, "tcp in few rounds");
  expect(MPIX_Margay_poll_interval("tcp", MPIX_MARGAY_POLL_ADAPTIVE) == MPI_SUCCESS, "adaptive again");
  MPI_Barrier(MPI_COMM_WORLD);
}

static int class_of(int error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  return error_class;
}

// Any number of ranks and nodes: a wire that a rank does not have has no counts.
static void arguments(void) {
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  expect(class_of(MPIX_Margay_poll_interval("tcp", 0)) == MPI_ERR_ARG, "an error for interval 0");
  expect(class_of(MPIX_Margay_poll_interval("tcp", -3)) == MPI_ERR_ARG, "an error for interval -3");
  expect(class_of(MPIX_Margay_poll_interval("tpc", 2)) == MPI_ERR_ARG, "an error for an unknown wire");
  expect(class_of(MPIX_Margay_poll_interval(NULL, 2)) == MPI_ERR_ARG, "an error for a null pointer");
  expect(class_of(MPIX_Margay_polling("self", 0)) == MPI_ERR_ARG, "an error for the wire to oneself");
  expect(class_of(MPIX_Margay_poll_interval("shm", MPIX_MARGAY_POLL_BLOCK)) == (size > 1 ? MPI_ERR_ARG : MPI_SUCCESS),
         "an error for a thread that would block on shared memory");
  expect(class_of(MPIX_Margay_poll_counts("tpc", NULL, NULL, NULL, NULL)) == MPI_ERR_ARG,
         "an error for counts of no wire");
  unsigned long long polls = 1, hits = 1, wasted = 1;
  expect(MPIX_Margay_poll_counts("virtual", &polls, &hits, &wasted, NULL) == MPI_SUCCESS, "counts of an absent wire");
  expect(polls == 0 && hits == 0 && wasted == 0, "no counts of an absent wire");
}

// Messages around all ranks, however the wires are polled.
static void traffic(void) {
  for (int i = 0; i < 200; ++i) {
    int got = -1;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, kData, &got, 1, MPI_INT, (rank + size - 1) % size, kData,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(got == i, "a message in order");
  }
}

// Rank 0 waits for a message that lies on a wire which it does not poll.
static void stuck(void) {
  int token = 0;
  if (rank == 0) MPIX_Margay_polling("tcp", 0);
  MPI_Recv(&token, 1, MPI_INT, size - 1 - rank, kData, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// The variable skip_poll of the tool interface: read, written, and refused.
static void tool(void) {
  int provided = 0, index = -1, count = 0;
  char text[256] = "";
  MPI_T_cvar_handle handle;
  expect(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS, "the tool interface");
  expect(MPI_T_cvar_get_index("skip_poll", &index) == MPI_SUCCESS, "the variable");
  expect(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS && count == (int)sizeof text, "a handle");
  strcpy(text, "tcp=30,shm=2");
  expect(MPI_T_cvar_write(handle, text) == MPI_SUCCESS, "a write");
  memset(text, 0, sizeof text);
  expect(MPI_T_cvar_read(handle, text) == MPI_SUCCESS && strcmp(text, "shm=2,tcp=30") == 0, "the written value");
  const char* const invalid[] = {"tcp=0", "tcp", "tpc=3", "shm=block"};
  for (size_t i = 0; i < sizeof invalid / sizeof *invalid; ++i) {
    memset(text, 0, sizeof text);
    strcpy(text, invalid[i]);
    expect(MPI_T_cvar_write(handle, text) != MPI_SUCCESS, invalid[i]);
  }
  memset(text, 0, sizeof text);
  expect(MPI_T_cvar_read(handle, text) == MPI_SUCCESS && strcmp(text, "shm=2,tcp=30") == 0,
         "the value after invalid ones");
  int interval = 0;
  polls_of("tcp", NULL, &interval);
  expect(interval == 30, "the interval in the counts");
  MPI_T_cvar_handle_free(&handle);
  MPI_T_finalize();
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* const part = argc > 1 ? argv[1] : "traffic";
  const struct {
    const char* name;
    void (*run)(void);
  } parts[] = {{"selective", selective}, {"off_at_end", off_at_end}, {"interval", interval}, {"arguments", arguments},
               {"traffic", traffic},     {"stuck", stuck},           {"tool", tool}};
  int found = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
    if (strcmp(part, parts[i].name) != 0) continue;
    found = 1;
    parts[i].run();
  }
  MPI_Finalize();
  if (found && problems == 0) printf("rank %d: %s\n", rank, part);
  return found && problems == 0 ? 0 : 1;
}
