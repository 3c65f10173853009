// A test with MPI_THREAD_MULTIPLE: MPI calls a function of the program in one thread's wait, and the function does not
// return before another thread has received a message. That thread's wait must make progress meanwhile. (Either thread
// may call the function.)
// ranks: 2
// reference: none, MPICH 4.0.2 calls such functions with its lock held
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { kRounds = 50, kTag = 5 };

static int rank;
static atomic_int received;  // rounds whose message the other thread has received
static atomic_int called;    // rounds in which the function was called
static int round_now;
static _Thread_local int receives;  // true in the thread that receives

// On rank 0 it runs until the other thread has received its message, which rank 1 sends after a signal from this call.
static void waits_for_the_other_thread(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  if (rank == 0) {
    atomic_store(&called, round_now + 1);
    while (!receives && atomic_load(&received) <= round_now) usleep(100);
  }
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void* receive(void* unused) {
  receives = 1;
  for (int round = 0; round < kRounds; ++round) {
    int value = -1;
    // The wait begins before the function is called, or while it runs.
    if (round % 2 == 1) {
      while (atomic_load(&called) <= round) usleep(100);
    }
    MPI_Recv(&value, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(value == round, "round %d: %d", round, value);
    atomic_store(&received, round + 1);
  }
  return unused;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK(provided == MPI_THREAD_MULTIPLE, "thread level %d", provided);
  rank = world_rank();
  MPI_Op op;
  MPI_Op_create(waits_for_the_other_thread, 1, &op);
  pthread_t thread;
  if (rank == 0) pthread_create(&thread, NULL, receive, NULL);
  for (round_now = 0; round_now < kRounds; ++round_now) {
    int mine = rank + 1, sum = 0;
    MPI_Request request;
    MPI_Ireduce(&mine, &sum, 1, MPI_INT, op, 0, MPI_COMM_WORLD, &request);
    if (rank == 1) {
      // Its part is in transit; the message follows it.
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      usleep(2000);
      MPI_Send(&round_now, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
    } else {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      CHECK(sum == 3, "round %d: %d", round_now, sum);
    }
  }
  if (rank == 0) pthread_join(thread, NULL);
  MPI_Op_free(&op);
  return suite_end("nonblocking_threads");
}
