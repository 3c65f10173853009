/* Hand-written fan-ins, back to back, that overlap. Part 1 is for your predictions: do not change it. Part 2 has the
 * same faults; fix them in the blanks. A "word" is an empty message that notifies another rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "variant.h"

enum { kWordTag = 900, kGatherTag = 7 };

static int rank, size;

static void send_word(int to) {
  MPI_Send(NULL, 0, MPI_BYTE, to, kWordTag, MPI_COMM_WORLD);
}
static void receive_word(int from) {
  MPI_Recv(NULL, 0, MPI_BYTE, from, kWordTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* A fan-in to rank 0: the others send one int each, rank 0 receives size-1 messages in order of arrival and adds them
 * up. */
static int fan_in(int mine, int tag, MPI_Comm comm) {
  if (rank != 0) {
    MPI_Send(&mine, 1, MPI_INT, 0, tag, comm);
    return 0;
  }
  int sum = mine;
  for (int i = 1; i < size; ++i) {
    int one = 0;
    MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, tag, comm, MPI_STATUS_IGNORE);
    sum += one;
  }
  return sum;
}

/* Runs `calls` on the ranks in a fixed order, enforced by words and not by time: first kEarly, then the others in rank
 * order, then kLate. Each sends its contributions to all calls before the next one begins. Rank 0 begins last. */
static void in_order(void (*calls)(void)) {
  if (rank == kEarly) {
    calls();
    send_word(0);
  } else if (rank != 0) {
    receive_word(0);
    calls();
    send_word(0);
  } else {
    receive_word(kEarly);
    for (int other = 1; other < size; ++other) {
      if (other == kEarly || other == kLate) continue;
      send_word(other);
      receive_word(other);
    }
    send_word(kLate);
    receive_word(kLate);
    calls();
  }
}

/* Part 1: kCalls fan-ins with one tag. Call i adds 100^i from each rank, so the right sum is `size` times that. */
static void one_tag(void) {
  for (int call = 0, part = 1; call < kCalls; ++call, part *= 100) {
    const int sum = fan_in(part, kGatherTag, MPI_COMM_WORLD);
    if (rank == 0) printf("part 1, call %d: %d, expected %d\n", call, sum, size * part);
  }
}

/* Part 2. The program that calls this "library" has messages of its own in flight, with any tag, on MPI_COMM_WORLD. */
static MPI_Comm library;

static void open_library(void) {
  library = MPI_COMM_WORLD;
  /* BLANK 1: a communicator of the library's own, so that it never receives a message of the program */
  /* END 1 */
}

static int tag_of(int call) {
  int tag = kGatherTag;
  (void)call;
  /* BLANK 2: make the messages of this call differ from those of the next */
  /* END 2 */
  return tag;
}

static void mended(void) {
  int stray = -1000000;
  for (int call = 0, part = 1; call < kCalls; ++call, part *= 100) {
    if (rank == kEarly) MPI_Send(&stray, 1, MPI_INT, 0, kGatherTag + call, MPI_COMM_WORLD); /* the program's own */
    const int sum = fan_in(part, tag_of(call), library);
    if (rank == 0) printf("part 2, call %d: %d, expected %d\n", call, sum, size * part);
  }
  for (int call = 0, is_there = 0; call < kCalls && rank == 0; ++call) {
    MPI_Iprobe(kEarly, kGatherTag + call, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
    if (is_there) MPI_Recv(&stray, 1, MPI_INT, kEarly, kGatherTag + call, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* Part 3: margay's own gathers, for comparison. */
static void of_margay(void) {
  int all[64];
  for (int call = 0; call < kCalls; ++call) MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  in_order(one_tag);
  of_margay();
  MPI_Barrier(MPI_COMM_WORLD); /* no rank begins part 2 before rank 0 has finished part 1 */
  open_library();
  in_order(mended);
  if (library != MPI_COMM_WORLD) MPI_Comm_free(&library);
  MPI_Finalize();
  return 0;
}
