// Two ranks that wait for each other: rank 0 sent its message with another tag than rank 1 awaits; with "probe", they
// wait in probes. With "late" there is no deadlock: another thread of rank 0 completes a request of that rank after
// both have waited long. With "partitioned", on a communicator without a name, rank 1 awaits partitions; its message
// was sent on another communicator. With "nonblocking", rank 0 waits for a barrier that it began and that rank 1 never
// calls, with a pending receive for which it does not wait. With "isendrecv", rank 0 awaits the receive of a request
// for a send and a receive.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static MPI_Request of_the_program;

static int query(void* state, MPI_Status* status) {
  (void)state;
  MPI_Status_set_elements(status, MPI_BYTE, 0);
  MPI_Status_set_cancelled(status, 0);
  return MPI_SUCCESS;
}
static int nothing(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int no_cancel(void* state, int complete) {
  (void)complete;
  return nothing(state);
}

// The launcher reports on its standard error that all ranks wait, and the test forwards this report.
static void* complete_when_asked(void* unused) {
  (void)unused;
  getchar();
  MPI_Grequest_complete(of_the_program);
  return NULL;
}

int main(int argc, char** argv) {
  const int late = argc > 1 && strcmp(argv[1], "late") == 0;
  const int partitioned = argc > 1 && strcmp(argv[1], "partitioned") == 0;
  int level = 0;
  MPI_Init_thread(&argc, &argv, late ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  int rank = 0;
  int value = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && late) {
    MPI_Grequest_start(query, nothing, no_cancel, NULL, &of_the_program);
    pthread_t thread;
    pthread_create(&thread, NULL, complete_when_asked, NULL);
    MPI_Wait(&of_the_program, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    MPI_Send(&value, 1, MPI_INT, 1, 17, MPI_COMM_WORLD);
  } else if (argc > 1 && strcmp(argv[1], "probe") == 0) {
    MPI_Message message;
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, 18, MPI_COMM_WORLD);
    if (rank == 0) MPI_Mprobe(1, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Probe(0, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (partitioned) {
    MPI_Comm nameless;
    MPI_Request awaited;
    MPI_Comm_dup(MPI_COMM_WORLD, &nameless);
    if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 1, 5, nameless, MPI_STATUS_IGNORE);
    MPI_Precv_init(&value, 1, 1, MPI_INT, 0, 17, nameless, MPI_INFO_NULL, &awaited);
    MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
    MPI_Start(&awaited);
    MPI_Wait(&awaited, MPI_STATUS_IGNORE);
  } else if (rank == 0 && argc > 1 && strcmp(argv[1], "nonblocking") == 0) {
    MPI_Request barrier, beside;
    MPI_Irecv(&value, 1, MPI_INT, 1, 18, MPI_COMM_WORLD, &beside);
    MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  } else if (rank == 0 && argc > 1 && strcmp(argv[1], "isendrecv") == 0) {
    MPI_Request both;
    int other = 0;
    MPI_Isendrecv(&other, 1, MPI_INT, 1, 18, &value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &both);
    MPI_Wait(&both, MPI_STATUS_IGNORE);
  } else if (rank == 0) {
    MPI_Send(&value, 1, MPI_INT, 1, 18, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
