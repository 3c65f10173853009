// Times of a simulated run: times ping_pong | sleep | barriers | arrivals | late | bandwidth
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kRounds = 100 };

static void ping_pong(int rank) {
  char byte = 0;
  double began = 0;
  for (int i = 0; i < 2 * kRounds; ++i) {
    if (i == kRounds) began = MPI_Wtime();
    if (rank == 0) {
      MPI_Send(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(&byte, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
      MPI_Recv(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(&byte, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
  }
  if (rank == 0) printf("one way %.2f us\n", (MPI_Wtime() - began) * 1e6 / (2 * kRounds));
}

// The last rank receives after all others have sent, the higher ones first.
static void arrivals(int rank, int size) {
  int from = rank;
  if (rank != size - 1) {
    sleep((unsigned)(size - 1 - rank));
    MPI_Send(&from, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
    return;
  }
  sleep(100);
  for (int i = 0; i < size - 1; ++i) {
    MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("from %d\n", from);
  }
}

// Rank 0 reads the clock until 10 ms have passed, rank 1 until 5 ms have; then each sends to rank 2.
static void late(int rank) {
  const double began = MPI_Wtime();
  const double until[] = {0.010, 0.005};
  int value = 0;
  if (rank < 2) {
    while (MPI_Wtime() - began < until[rank]) continue;
    MPI_Send(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
  } else if (rank == 2) {
    MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("received at %.3f ms\n", (MPI_Wtime() - began) * 1e3);
    MPI_Recv(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void bandwidth(int rank) {
  enum { kBytes = 16 << 20 };
  char* const body = calloc(kBytes, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  if (rank == 0) MPI_Send(body, kBytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(body, kBytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("%.0f MB/s\n", kBytes / (MPI_Wtime() - began) / 1e6);
  }
  free(body);
}

int main(int argc, char** argv) {
  int rank = 0, size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(argv[1], "ping_pong") == 0) {
    ping_pong(rank);
  } else if (strcmp(argv[1], "sleep") == 0) {
    if (rank == 1) sleep(3600);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (strcmp(argv[1], "arrivals") == 0) {
    arrivals(rank, size);
  } else if (strcmp(argv[1], "late") == 0) {
    late(rank);
  } else if (strcmp(argv[1], "bandwidth") == 0) {
    bandwidth(rank);
  } else {
    for (int i = 0; i < kRounds; ++i) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
