// Rank 0 has a thread that no debugger can stop until a file exists: it waits for the child of a vfork(). Rank 1 waits
// for the file in a function with a name that is also that of a C++ type. stuck FILE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { kPauseUs = 1000 };

static const char* file;

static int is_there(void) {
  return access(file, F_OK) == 0;
}

// The child runs on the stack of the waiting thread.
static void* parent(void* result) {
  const pid_t child = vfork();
  if (child == 0) {
    printf("begun\n");
    fflush(stdout);
    while (!is_there()) usleep(kPauseUs);
    _exit(0);
  }
  return result;
}

__attribute__((noinline)) static void i(void) {
  while (!is_there()) usleep(kPauseUs);  // line: wait
  printf("seen\n");
}

int main(int argc, char** argv) {
  pthread_t thread;
  int rank;
  file = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    pthread_create(&thread, NULL, parent, NULL);
    while (!is_there()) usleep(kPauseUs);
    pthread_join(thread, NULL);
  } else {
    i();  // line: call
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
