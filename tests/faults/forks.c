// Rank 1 forks, and the child calls MPI though it is no rank: forks WHEN.
//   WHEN: before    while its parent is in the middle of its messages
//         after     once its parent has called MPI_Finalize
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kCalls = 500 };

static void be_the_child(int from_parent, int before) {
  char byte;
  if (read(from_parent, &byte, 1) != 1) _exit(1);
  int value = 0;
  for (int i = 0; i < kCalls; ++i) {
    if (before) MPI_Comm_rank(MPI_COMM_WORLD, &value);
    MPI_Query_thread(&value);
  }
  _exit(0);
}

int main(int argc, char** argv) {
  const int before = argc > 1 && strcmp(argv[1], "before") == 0;
  int rank = 0;
  int size = 0;
  int to_child[2];
  int how = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (pipe(to_child) != 0) return 1;
  const pid_t child = rank == 1 ? fork() : -1;
  if (child == 0) be_the_child(to_child[0], before);
  for (int i = 0; i < 20; ++i) {
    int value = rank;
    MPI_Sendrecv_replace(&value, 1, MPI_INT, (rank + 1) % size, 1, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    if (before && child > 0 && i == 10) {
      if (write(to_child[1], "g", 1) != 1 || waitpid(child, &how, 0) != child) return 1;
    }
  }
  MPI_Finalize();
  if (!before && child > 0 && (write(to_child[1], "g", 1) != 1 || waitpid(child, &how, 0) != child)) return 1;
  return how == 0 ? 0 : 1;
}
