/* Part 1: a correct MPI program. Rank 0 sends, rank 1 receives; page.md lists what, and when. Do not change it.
 *
 *   margay lab run losing               with margay as it is
 *   margay lab run losing --mpi racy    with a margay that does not post receives atomically */
#include <mpi.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#pragma GCC diagnostic ignored "-Wunused-const-variable" /* the numbers of part 2 */
#include "variant.h"

enum { kEndTag = 900, kNoTag = 901, kMost = 64 };

/* Shared memory, by which the ranks wait for each other without MPI calls. */
struct Shared {
  atomic_int allowed; /* number of messages that rank 0 may send */
  atomic_int sent;    /* number that it has sent */
};

static void send_all(struct Shared* shared) {
  for (int i = 0; i < kSendTagCount; ++i) {
    while (atomic_load(&shared->allowed) <= i) sched_yield();
    const int number = i + 1;
    MPI_Send(&number, 1, MPI_INT, 1, kSendTag[i], MPI_COMM_WORLD);
    atomic_store(&shared->sent, i + 1);
  }
  MPI_Send(NULL, 0, MPI_INT, 1, kEndTag, MPI_COMM_WORLD);
}

/* Returns when rank 0 has sent its first `messages` messages. They are in flight or arrived, but not yet delivered. */
static void let_send(struct Shared* shared, int messages) {
  atomic_store(&shared->allowed, messages);
  while (atomic_load(&shared->sent) < messages) sched_yield();
}

/* A call in which the kernel delivers what has arrived. */
static void look(void) {
  int flag = 0;
  MPI_Iprobe(0, kNoTag, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void receive_all(struct Shared* shared) {
  int bodies[kMost] = {0}, tags[kMost], receives = 0, messages = 0;
  MPI_Request requests[kMost], end;
  MPI_Irecv(NULL, 0, MPI_INT, 0, kEndTag, MPI_COMM_WORLD, &end); /* before rank 0 sends anything */
  for (int round = 0; round < kRoundTagCount; ++round) {
    let_send(shared, messages += kRoundBefore[round]);
    if (kRoundLook[round]) look();
    for (int i = 0; i < kRoundReceives[round]; ++i, ++receives) {
      tags[receives] = kRoundTag[round] + (kRoundTags[round] == 1 ? 0 : i);
      MPI_Irecv(&bodies[receives], 1, MPI_INT, 0, tags[receives], MPI_COMM_WORLD, &requests[receives]);
    }
    let_send(shared, messages += kRoundAfter[round]);
    if (kRoundAfter[round]) look();
  }
  MPI_Wait(&end, MPI_STATUS_IGNORE); /* all other messages have arrived before this one */
  for (int i = 0; i < receives; ++i) {
    int done = 0;
    MPI_Test(&requests[i], &done, MPI_STATUS_IGNORE);
    if (done) {
      printf("receive %d (tag %d): message %d\n", i + 1, tags[i], bodies[i]);
      continue;
    }
    printf("receive %d (tag %d): no message\n", i + 1, tags[i]);
    MPI_Cancel(&requests[i]);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, unit = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    fprintf(stderr, "this lab takes two ranks: margay run -n 2 ./losing\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  struct Shared* shared = NULL;
  MPI_Aint bytes = 0;
  MPI_Win window;
  MPI_Win_allocate_shared(rank == 0 ? sizeof *shared : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &window);
  MPI_Win_shared_query(window, 0, &bytes, &unit, &shared);
  if (rank == 0) {
    atomic_init(&shared->allowed, 0);
    atomic_init(&shared->sent, 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) send_all(shared);
  if (rank == 1) receive_all(shared);
  MPI_Win_free(&window);
  MPI_Finalize();
  return 0;
}
