// A rank that ends at a chosen point, while the others wait for it: faulty PLACE DEATH. Rank 1 is the victim.
//   PLACE: before_init posted unexpected pull exchange barrier collective finalize idle spinning after_finalize
//   DEATH: kill segv abrt stack exit exit3 abort abort_all
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kBigBytes = 64 << 20 };

static int deepen(volatile char* above, int depth) {
  volatile char here[4096];
  here[0] = above[0];
  return deepen(here, depth + 1) + here[0];
}

static void die(const char* death) {
  volatile char byte = 0;
  if (strcmp(death, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(death, "segv") == 0) *(volatile int*)(size_t)(byte + 8) = 1;
  if (strcmp(death, "abrt") == 0) abort();
  if (strcmp(death, "stack") == 0) deepen(&byte, 0);
  if (strcmp(death, "exit") == 0) exit(0);
  if (strcmp(death, "exit3") == 0) exit(3);
  if (strcmp(death, "abort") == 0 || strcmp(death, "abort_all") == 0) {
    printf("before abort\n");
    MPI_Abort(MPI_COMM_WORLD, 7);
    printf("after abort\n");  // must never appear
    fflush(stdout);
  }
}

static void die_later(const char* death) {
  static int signals[] = {SIGKILL, SIGSEGV, SIGABRT};
  const int which = strcmp(death, "kill") == 0 ? 0 : strcmp(death, "segv") == 0 ? 1 : 2;
  const pid_t parent = getpid();
  if (fork() == 0) {
    usleep(200000);
    kill(parent, signals[which]);
    _exit(0);
  }
}

int main(int argc, char** argv) {
  if (argc < 3) return 99;
  const char* place = argv[1];
  const char* death = argv[2];
  const char* own_rank = getenv("PMI_RANK");
  if (strcmp(place, "before_init") == 0 && own_rank != NULL && own_rank[0] == '1') die(death);
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* big = malloc(kBigBytes);
  memset(big, rank, kBigBytes);
  int value = rank;
  MPI_Request requests[100];
  MPI_Status statuses[100];
  if (strcmp(death, "abort_all") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    die(death);
  }
  if (strcmp(place, "barrier") == 0 || strcmp(place, "collective") == 0) {
    if (rank == 1) die(death);
    if (strcmp(place, "barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else if (strcmp(place, "posted") == 0) {
    for (int i = 0; i < 100; ++i) MPI_Irecv(&value, 1, MPI_INT, (rank + 1) % size, i, MPI_COMM_WORLD, &requests[i]);
    if (rank == 1) die(death);
    MPI_Waitall(100, requests, statuses);
  } else if (strcmp(place, "unexpected") == 0) {
    for (int i = 0; i < 100; ++i) MPI_Send(&value, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
    if (rank == 1) {
      usleep(50000);
      die(death);
    }
    MPI_Recv(&value, 1, MPI_INT, 1, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(place, "pull") == 0) {
    // Bodies are pulled continuously, in both directions, at the moment of the end.
    if (rank == 1) die_later(death);
    for (;;) {
      MPI_Irecv(big, kBigBytes / 2, MPI_BYTE, (rank + 1) % size, 1, MPI_COMM_WORLD, &requests[0]);
      MPI_Send(big + kBigBytes / 2, kBigBytes / 2, MPI_BYTE, (rank + size - 1) % size, 1, MPI_COMM_WORLD);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
  } else if (strcmp(place, "exchange") == 0) {
    // Many bodies in progress at once, in both directions, in one wait.
    if (rank == 1) die_later(death);
    for (;;) {
      for (int i = 0; i < 16; ++i) {
        char* place_of_body = big + (size_t)i * (kBigBytes / 16);
        if (i < 8) MPI_Irecv(place_of_body, kBigBytes / 16, MPI_BYTE, rank ^ 1, i, MPI_COMM_WORLD, &requests[i]);
        if (i >= 8) MPI_Isend(place_of_body, kBigBytes / 16, MPI_BYTE, rank ^ 1, i - 8, MPI_COMM_WORLD, &requests[i]);
      }
      MPI_Waitall(16, requests, MPI_STATUSES_IGNORE);
    }
  } else if (strcmp(place, "spinning") == 0) {
    if (rank == 1) die_later(death);
    for (volatile int forever = 1; forever;) {
    }
  } else if (strcmp(place, "idle") == 0) {
    if (rank == 1) die_later(death);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (strcmp(place, "finalize") == 0 && rank == 1) {
    die_later(death);
    usleep(1000000);
  }
  MPI_Finalize();
  if (strcmp(place, "after_finalize") == 0 && rank == 1) die(death);
  free(big);
  return 0;
}
