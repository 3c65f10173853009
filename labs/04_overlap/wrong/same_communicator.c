// says: took a message of the program for one of its own
/* Gathers made by hand, back to back, and overlapping. Part 1 is for your predictions: leave it as it is. Part 2 has
 * the same faults; mend them in the blanks. */
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

/* A fan-in to rank 0: the others send one int each, rank 0 takes size-1 messages as they come and adds them up. */
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

/* Nobody's clock decides who is early: rank kEarly tells rank 0 when its contributions to all calls are sent; only then
 * rank 0 lets kLate begin, and takes its own part when kLate has sent all. The others are in between. */
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

/* Part 1: kCalls fan-ins with one tag. Call i adds up 100^i of each rank: a sum of `size` such parts would be right. */
static void one_tag(void) {
  for (int call = 0, part = 1; call < kCalls; ++call, part *= 100) {
    const int sum = fan_in(part, kGatherTag, MPI_COMM_WORLD);
    if (rank == 0) printf("part 1, call %d: %d, expected %d\n", call, sum, size * part);
  }
}

/* Part 2. The program that calls this "library" has messages of its own under way, with all tags, in MPI_COMM_WORLD. */
static MPI_Comm library;

static void open_library(void) {
  library = MPI_COMM_WORLD;
  /* BLANK 1: a communicator of the library's own, so that no message of the program is taken for one of its */
  library = MPI_COMM_WORLD; /* it is there already */
  /* END 1 */
}

static int tag_of(int call) {
  int tag = kGatherTag;
  (void)call;
  /* BLANK 2: something that tells the messages of this call from those of the next */
  tag += call; /* or any other number that both sides know of the call: margay has it in the match bits */
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

/* Part 3: margay's own, for comparison. */
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
  MPI_Barrier(MPI_COMM_WORLD); /* nobody begins part 2 before rank 0 is done with part 1 */
  open_library();
  in_order(mended);
  if (library != MPI_COMM_WORLD) MPI_Comm_free(&library);
  MPI_Finalize();
  return 0;
}
