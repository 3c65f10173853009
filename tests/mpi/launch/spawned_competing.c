// Ranks and threads that start programs at the same time, with places for one of them. spawned_competing THREADS ROUNDS
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kThreadsMost = 8, kChildren = 2 };

static char* program;
static int rounds;

// A child receives a number of its parent and returns it, which needs the parent's progress.
static void be_child(MPI_Comm parent) {
  int number = 0;
  MPI_Recv(&number, 1, MPI_INT, 0, 0, parent, MPI_STATUS_IGNORE);
  MPI_Send(&number, 1, MPI_INT, 0, 0, parent);
  MPI_Comm_disconnect(&parent);
}

static void* start_children(void* argument) {
  MPI_Comm own = *(MPI_Comm*)argument;
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm children = MPI_COMM_NULL;
    MPI_Comm_spawn(program, MPI_ARGV_NULL, kChildren, MPI_INFO_NULL, 0, own, &children, MPI_ERRCODES_IGNORE);
    for (int child = 0; child < kChildren; ++child) MPI_Send(&round, 1, MPI_INT, child, 0, children);
    for (int child = 0; child < kChildren; ++child) {
      int number = -1;
      MPI_Recv(&number, 1, MPI_INT, child, 0, children, MPI_STATUS_IGNORE);
      if (number != round) MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Comm_disconnect(&children);
  }
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Comm parent = MPI_COMM_NULL;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    be_child(parent);
  } else {
    const int threads = argc > 1 ? atoi(argv[1]) : 0;
    pthread_t ids[kThreadsMost];
    MPI_Comm comms[kThreadsMost];
    if (argc != 3 || threads < 1 || threads > kThreadsMost) MPI_Abort(MPI_COMM_WORLD, 2);
    program = argv[0];
    rounds = atoi(argv[2]);
    for (int i = 0; i < threads; ++i) MPI_Comm_dup(MPI_COMM_SELF, &comms[i]);
    for (int i = 0; i < threads; ++i) pthread_create(&ids[i], NULL, start_children, &comms[i]);
    for (int i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
    for (int i = 0; i < threads; ++i) MPI_Comm_free(&comms[i]);
    printf("%d children\n", threads * rounds * kChildren);
  }
  MPI_Finalize();
  return 0;
}
