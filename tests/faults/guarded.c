// A rank that is stopped, or dies, inside the guard of accumulates without an atomic instruction (16 bytes): its
// operand is in a page that is not readable yet, and the fault's handler stops or kills the process: guarded stop|kill.
// All ranks accumulate to rank 0 meanwhile; the living terminate normally.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kVictim = 1, kAfter = 100 };

// For the handler. Set once, before the page is protected.
static void* operand = NULL;
static int signal_inside = 0;

static void inside(int number) {
  (void)number;
  if (mprotect(operand, 4096, PROT_READ | PROT_WRITE) != 0) _exit(98);
  raise(signal_inside);
}

static void add(const double* value, MPI_Win win) {
  MPI_Accumulate(value, 1, MPI_C_DOUBLE_COMPLEX, 0, 0, 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, win);
}

int main(int argc, char** argv) {
  if (argc < 2) return 99;
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double(*memory)[2] = NULL;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_lock_all(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == kVictim) {
    signal_inside = strcmp(argv[1], "stop") == 0 ? SIGSTOP : SIGKILL;
    operand = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ((double*)operand)[0] = 1000000;
    signal(SIGSEGV, inside);
    mprotect(operand, 4096, PROT_NONE);
    add(operand, win);
  } else {
    // Until the victim's sum has arrived, which never happens for a dead one: then for a while after its death.
    const double one[2] = {1, 1};
    double found[2] = {0, 0};
    for (int left = kAfter; left > 0;) {
      add(one, win);
      MPI_Get_accumulate(NULL, 0, MPI_C_DOUBLE_COMPLEX, found, 1, MPI_C_DOUBLE_COMPLEX, 0, 0, 1, MPI_C_DOUBLE_COMPLEX,
                         MPI_NO_OP, win);
      MPI_Win_flush(0, win);
      int is_dead = 0;
      if (strcmp(argv[1], "kill") == 0) is_dead = MPI_Win_flush(kVictim, win) != MPI_SUCCESS;
      if (found[0] >= 1000000 || is_dead) --left;
    }
  }
  MPI_Win_unlock_all(win);
  printf("rank %d: lives\n", rank);
  fflush(stdout);
  MPI_Win_free(&win);
  if (strcmp(argv[1], "kill") == 0) _exit(0);
  MPI_Finalize();
  return 0;
}
