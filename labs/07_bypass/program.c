/* Application bypass: rank 1 computes without an MPI call, and its memory changes meanwhile. Part 1 is for your
 * predictions: do not change it. Part 2 computes too, but posts its receive too late; fix it. */
#include <margay/mpi_rma_1996.h>
#include <sched.h>
#include <stdlib.h>

#include "variant.h"

enum { kWordTag = 100, kOverlapTag = 50 };

/* Flags in shared memory, by which the ranks follow each other's progress without MPI calls. */
struct flags {
  volatile int ready; /* the step in which rank 1 computes */
  volatile int done;  /* the step that rank 0 has finished */
};
static struct flags* flags;

/* "Computes", without an MPI call, until rank 0 has finished this step. */
static void compute_until(int step) {
  flags->ready = step;
  while (flags->done != step) sched_yield();
}
static void wait_until_it_computes(int step) {
  while (flags->ready != step) sched_yield();
}

static MPI_Win allocated, created; /* the windows of the two MPI_Put steps */
static MPI_Comm rma;               /* the window of the MPI_RMA_put step */
static char* bytes;

enum action { kSendShort = 1, kSendLong, kSendUnposted, kPutAllocated, kPutCreated, kPut1996 };

static void act(enum action action, int tag, MPI_Request* request) {
  switch (action) {
    case kSendShort:
      MPI_Issend(bytes, kShortBytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, request);
      break;
    case kSendLong:
      MPI_Issend(bytes, kLongBytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, request);
      break;
    case kSendUnposted:
      MPI_Isend(bytes, kLongBytes, MPI_BYTE, 1, tag, MPI_COMM_WORLD, request);
      break;
    case kPutAllocated:
    case kPutCreated: {
      const MPI_Win window = action == kPutAllocated ? allocated : created;
      MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
      MPI_Put(bytes, kPutBytes, MPI_BYTE, 1, 0, kPutBytes, MPI_BYTE, window);
      MPI_Win_unlock(1, window); /* returns when the bytes are in rank 1's memory */
      break;
    }
    case kPut1996:
      MPI_RMA_put(bytes, kPutBytes, MPI_BYTE, 1, 0, kPutBytes, MPI_BYTE, rma);
      break;
  }
}

/* A step of part 1: rank 1 posts the receive (except for kSendUnposted) and computes while rank 0 acts. */
static void step(int rank, int number, enum action action) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int length = action == kSendShort ? kShortBytes : kLongBytes,
            waits = action == kSendShort || action == kSendLong;
  if (rank == 0) {
    wait_until_it_computes(number);
    act(action, number, &request);
    if (waits) MPI_Wait(&request, MPI_STATUS_IGNORE); /* synchronous: the receive has taken the message */
    if (!waits)
      MPI_Ssend(NULL, 0, MPI_BYTE, 1, kWordTag + number, MPI_COMM_WORLD); /* received: so have all earlier ones */
    flags->done = number;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Request word = MPI_REQUEST_NULL;
  if (waits) MPI_Irecv(bytes, length, MPI_BYTE, 0, number, MPI_COMM_WORLD, &request);
  if (!waits) MPI_Irecv(NULL, 0, MPI_BYTE, 0, kWordTag + number, MPI_COMM_WORLD, &word);
  compute_until(number);
  if (action == kSendUnposted) MPI_Irecv(bytes, length, MPI_BYTE, 0, number, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Wait(&word, MPI_STATUS_IGNORE);
}

/* Part 2: the long message should arrive while rank 1 computes. */
static void overlap(int rank) {
  const int number = kStepsCount + 1;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank == 0) {
    wait_until_it_computes(number);
    MPI_Isend(bytes, kLongBytes, MPI_BYTE, 1, kOverlapTag, MPI_COMM_WORLD, &request);
    MPI_Ssend(NULL, 0, MPI_BYTE, 1, kWordTag + number, MPI_COMM_WORLD);
    flags->done = number;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Request word;
  MPI_Irecv(NULL, 0, MPI_BYTE, 0, kWordTag + number, MPI_COMM_WORLD, &word);
  /* BLANK 1: start the receive here, so that the message can be put into `bytes` during the computation */
  /* END 1 */
  compute_until(number);
  /* BLANK 2: replace this call by one that completes the receive */
  MPI_Recv(bytes, kLongBytes, MPI_BYTE, 0, kOverlapTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  /* END 2 */
  MPI_Wait(&word, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bytes = calloc(kLongBytes, 1);
  MPI_Win flags_window;
  void *in_heap, *memory = calloc(kPutBytes, 1);
  MPI_Win_allocate_shared(rank == 0 ? sizeof *flags : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &flags, &flags_window);
  MPI_Aint size;
  int unit;
  MPI_Win_shared_query(flags_window, 0, &size, &unit, &flags);
  MPI_Win_allocate(kPutBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &in_heap, &allocated);
  MPI_Win_create(memory, kPutBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created);
  MPI_RMA_init(bytes, kPutBytes, 1, MPI_COMM_WORLD, &rma);
  if (rank == 0) flags->ready = flags->done = 0;
  MPI_Barrier(MPI_COMM_WORLD);

  for (int i = 0; i < kStepsCount; ++i) step(rank, i + 1, (enum action)kSteps[i]);
  overlap(rank);

  MPI_RMA_free(&rma);
  MPI_Win_free(&created);
  MPI_Win_free(&allocated);
  MPI_Win_free(&flags_window);
  MPI_Finalize(); /* before free(): a request that was never completed may write there until then */
  free(memory);
  free(bytes);
  return 0;
}
