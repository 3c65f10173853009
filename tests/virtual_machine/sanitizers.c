// A program of tests/virtual_machine/sanitizers.py: an error of rank 1 that a sanitizer detects, by the argument, or
// none.
#include <limits.h>
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 10, LARGE = 300000 };

static int table[NUMBERS];
// Enough for the pages of a rank to be moved instead of copied.
static char large[LARGE];
static int initialized[NUMBERS] = {1, 2, 3};
static jmp_buf back;

// Not inlined, so that AddressSanitizer finds the error, not UndefinedBehaviorSanitizer, which knows the objects'
// sizes.
__attribute__((noinline)) static void set(char* object, int index) {
  object[index] = 1;
}

// Not inlined: a longjmp to main removes the marks around its variables.
__attribute__((noinline)) static int overrun_in(int depth, int index) {
  char local[64];
  memset(local, depth, sizeof local);
  if (depth > 0) return overrun_in(depth - 1, index) + local[depth];
  // Other ranks run on their stacks meanwhile.
  MPI_Barrier(MPI_COMM_WORLD);
  set(local, index);
  return local[index / 2];
}

static void leave(int depth) {
  char local[64];
  memset(local, depth, sizeof local);
  if (depth > 0) leave(depth - 1);
  MPI_Barrier(MPI_COMM_WORLD);
  longjmp(back, local[0] + 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const char* what = argc > 1 ? argv[1] : "none";
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("%d begins\n", rank);
  char* body = calloc(LARGE, 1);
  for (int i = 0; i < NUMBERS; i++) table[i] = initialized[i] + rank;
  memset(large, rank + 1, LARGE);
  memset(body, rank + 1, LARGE);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Sendrecv_replace(body, LARGE, MPI_CHAR, (rank + 1) % size, 0, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  if (setjmp(back) == 0) leave(5);
  if (strcmp(what, "heap") == 0) set(body, rank == 1 ? LARGE : 0);
  if (strcmp(what, "freed") == 0 && rank == 1) free(body);
  if (strcmp(what, "freed") == 0) set(body, 0);
  if (strcmp(what, "global") == 0) set((char*)table, rank == 1 ? sizeof table : 0);
  if (strcmp(what, "large") == 0) set(large, rank == 1 ? LARGE : 0);
  if (strcmp(what, "stack") == 0) sum += overrun_in(0, rank == 1 ? 64 : 0);
  if (strcmp(what, "nested") == 0) sum += overrun_in(20, rank == 1 ? 64 : 0);
  if (strcmp(what, "undefined") == 0) sum += (rank == 1 ? INT_MAX : 0) + rank;
  // Inside of the library: the memory is too short for the received message.
  if (strcmp(what, "library") == 0) {
    if (rank == 0) MPI_Send(body, 100, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(malloc(50), 100, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  int own = body[LARGE / 2] == (rank + size - 1) % size + 1;
  for (int i = 0; i < NUMBERS; i++) own &= table[i] == initialized[i] + rank;
  for (int i = 0; i < LARGE; i++) own &= large[i] == rank + 1;
  if (own) printf("%d of %d has its own data\n", rank, sum);
  free(body);
  MPI_Finalize();
  return strcmp(what, "exit") == 0 ? 7 : 0;
}
