// A child that the program forks before MPI_Init takes part as the program does: forked. One of the two has no place.
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const pid_t child = fork();
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  if (child != 0) waitpid(child, NULL, 0);
  return 0;
}
