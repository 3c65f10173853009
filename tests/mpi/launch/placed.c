// Ranks in known states, until a file exists: rank 0 waits for rank 1's message in MPI_Recv, and the other ranks wait
// too; rank 1 computes, with receives posted, and has a thread that waits for its end. Before, rank 0 sends messages to
// rank 1, which receives some of them only at the end. placed FILE [exchanges]: with a number, ranks 2 and 3 exchange
// so many messages meanwhile, and check their contents. Rank 0 prints the received sum.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kSent = 100, kReceived = 40, kBytes = 10, kPosted = 3 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int over = 0;

__attribute__((noinline)) static void* stay(void* result) {
  pthread_mutex_lock(&lock);
  while (!over) pthread_cond_wait(&changed, &lock);  // line: stay
  pthread_mutex_unlock(&lock);
  return result;
}

__attribute__((noinline)) static int is_there(const char* file) {
  return access(file, F_OK) == 0;
}

__attribute__((noinline)) static long compute(const char* file) {
  volatile long sum = 0;
  do {
    sum = 0;
    for (long i = 0; i < 1000000; ++i) sum = sum + i % 7;  // line: compute
  } while (!is_there(file));
  return sum;
}

static void exchange(int rank, long count) {
  int got = 0;
  for (int i = 0; i < count; ++i) {
    MPI_Sendrecv(&i, 1, MPI_INT, 5 - rank, 3, &got, 1, MPI_INT, 5 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (got != i) MPI_Abort(MPI_COMM_WORLD, 4);
  }
}

int main(int argc, char** argv) {
  char body[kBytes] = "";
  long sum = 0;
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    for (int i = 0; i < kSent; ++i) MPI_Send(body, kBytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    MPI_Send(NULL, 0, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
    MPI_Recv(&sum, 1, MPI_LONG, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // line: wait
    printf("sum %ld\n", sum);
  } else if (rank == 1) {
    pthread_t thread;
    MPI_Request posted[kPosted];
    // Sent after all other messages of rank 0, and after every rank has begun.
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int from = 0; from < ranks; ++from)
      if (from != rank) MPI_Recv(NULL, 0, MPI_CHAR, from, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < kReceived; ++i) MPI_Recv(body, kBytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < kPosted; ++i) MPI_Irecv(&sum, 1, MPI_LONG, 0, 10, MPI_COMM_WORLD, &posted[i]);
    pthread_create(&thread, NULL, stay, NULL);
    printf("begun\n");
    fflush(stdout);
    sum = compute(argv[1]);  // line: call
    for (int i = 0; i < kPosted; ++i) MPI_Cancel(&posted[i]);
    MPI_Waitall(kPosted, posted, MPI_STATUSES_IGNORE);
    for (int i = kReceived; i < kSent; ++i) MPI_Recv(body, kBytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&sum, 1, MPI_LONG, 0, 9, MPI_COMM_WORLD);
    pthread_mutex_lock(&lock);
    over = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
  } else {
    MPI_Send(NULL, 0, MPI_CHAR, 1, 8, MPI_COMM_WORLD);
    if (argc > 2) exchange(rank, atol(argv[2]));
  }
  MPI_Barrier(MPI_COMM_WORLD);  // line: barrier
  MPI_Finalize();
  return 0;
}
