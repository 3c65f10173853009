// A test of standard streams: standard input reaches only rank 0; long and many lines of all ranks appear complete,
// separate from standard error; an unterminated line at exit is not lost.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kLines = 2000, kLong = 20000 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned long bytes = 0, sum = 0;
  for (int c = getchar(); c != EOF; c = getchar()) {
    ++bytes;
    sum = sum * 31 + (unsigned long)c;
  }
  printf("rank %d read %lu bytes, sum %lu\n", rank, bytes, sum);
  for (int i = 0; i < kLines; ++i)
    printf("rank %d line %d %.*s\n", rank, i, i % 60, "............................................................");
  static char text[kLong + 1];
  memset(text, 'a' + rank, kLong);
  printf("%s\n", text);
  fprintf(stderr, "rank %d on standard error\n", rank);
  MPI_Finalize();
  printf("rank %d ends without a newline", rank);
  return 0;
}
