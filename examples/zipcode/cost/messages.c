/* MPI messages, received after they came or posted ahead: cost.h.   margay run -n 2 ./messages FILE after|ahead */
#include "cost.h"

#include <mpi.h>

#include <stdlib.h>
#include <string.h>

static uint64_t numbers[kWindow], sent, expected;
static MPI_Request requests[kWindow];

static void send_all(void) {
  int i;
  for (i = 0; i < kWindow; ++i, ++sent) MPI_Send(&sent, sizeof sent, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
}
static void check(void) {
  int i;
  for (i = 0; i < kWindow; ++i) {
    if (numbers[i] != expected++) abort();
  }
}
static void receive_all(void) {
  int i;
  for (i = 0; i < kWindow; ++i) {
    MPI_Recv(&numbers[i], sizeof numbers[i], MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  check();
}
static void post_all(void) {
  int i;
  for (i = 0; i < kWindow; ++i) {
    MPI_Irecv(&numbers[i], sizeof numbers[i], MPI_BYTE, 0, 7, MPI_COMM_WORLD, &requests[i]);
  }
}
static void wait_all(void) {
  MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
  check();
}

int main(int argc, char** argv) {
  const int is_ahead = argc == 3 && strcmp(argv[2], "ahead") == 0;
  int rank, size, failed;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3 || (!is_ahead && strcmp(argv[2], "after") != 0) || size != 2) {
    fprintf(stderr, "use: margay run -n 2 %s FILE after|ahead\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  failed = is_ahead ? run_windows(rank, argv[1], post_all, send_all, wait_all)
                    : run_windows(rank, argv[1], NULL, send_all, receive_all);
  MPI_Finalize();
  return failed;
}
