/* MPI_Abort in a signal handler that interrupts the report of leaks: the library starts a process for the names of
   locations by this program's posix_spawn(), while it holds the lock of these names. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>

typedef int (*Spawn)(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*, char* const*,
                     char* const*);

static void end(int signal_number) {
  (void)signal_number;
  MPI_Abort(MPI_COMM_WORLD, 7);
}

int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                const posix_spawnattr_t* attributes, char* const* words, char* const* environment) {
  raise(SIGUSR1);
  return ((Spawn)dlsym(RTLD_NEXT, "posix_spawn"))(pid, path, actions, attributes, words, environment);
}

int main(int argc, char** argv) {
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  signal(SIGUSR1, end);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Finalize();
  return 0;
}
