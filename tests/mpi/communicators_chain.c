// Tests of communicators that are freed while a slower member is still in their last call, and whose contexts the
// faster one immediately reuses with other ranks. These are pairs of neighbors, even and odd ones in turn, and triples.
// Data that one communicator's calls leave in shared memory must not reach the next one's.
// ranks: 2 3 5 8
// reference: 3
#include <stdlib.h>

#include "check.h"

enum { kRounds = 300, kCalls = 3, kWords = 40 };

static unsigned random_state = 1;
static unsigned draw(unsigned below) {
  random_state = random_state * 1103515245u + 12345u;
  return (random_state >> 16) % below;
}

static volatile unsigned sink;
static void be_late(void) {
  for (unsigned turns = draw(2000); turns-- > 0;) ++sink;
}

// Calls of one communicator; all words of their data identify it.
static void call_all(MPI_Comm comm, int round) {
  int size, rank;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &rank);
  for (int call = 0; call < kCalls; ++call) {
    be_late();
    const int mark = round * 100 + call;
    int mine[kWords], sum[kWords], all[kWords * 8];
    const int count = round % 2 ? 1 : kWords;
    for (int at = 0; at < kWords; ++at) mine[at] = mark + rank;
    MPI_Allreduce(mine, sum, count, MPI_INT, MPI_SUM, comm);
    for (int at = 0; at < count; ++at) {
      CHECK(sum[at] == size * mark + size * (size - 1) / 2, "round %d: word %d is %d", round, at, sum[at]);
    }
    MPI_Allgather(mine, count, MPI_INT, all, count, MPI_INT, comm);
    for (int at = 0; at < count * size; ++at) {
      CHECK(all[at] == mark + at / count, "round %d: block %d has %d", round, at / count, all[at]);
    }
    if (call % 2) MPI_Barrier(comm);
  }
}

// The members from `first` on, including this rank.
static void meet(int first, int members, int round) {
  MPI_Group world, group;
  MPI_Comm comm;
  int range[1][3] = {{first, first + members - 1, 1}};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, range, &group);
  MPI_Comm_create_group(MPI_COMM_WORLD, group, round, &comm);
  call_all(comm, round);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  random_state = (unsigned)rank + 1;
  for (int round = 0; round < kRounds; ++round) {
    const int members = round % 5 == 4 ? 3 : 2;
    // Groups of this many consecutive ranks, from a start that moves.
    const int place = rank - round % members;
    if (place < 0) continue;
    const int first = rank - place % members;
    if (first + members <= size) meet(first, members, round);
  }
  return suite_end("communicators_chain");
}
