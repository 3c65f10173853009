// A test of a child that the program forks before MPI_Init, and that also calls MPI_Init: forked. One of the two
// processes is rejected.
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
