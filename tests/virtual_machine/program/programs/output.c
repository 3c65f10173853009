// Output in each way to the standard streams, with lines that a sleep interrupts.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static void print_long(int rank) {
  for (int i = 0; i < 20000; ++i) printf("%d:%d ", rank, i);
  putchar('\n');
}

// Rank 0 ends with an open file, which is complete when it has ended.
static void leave_file(int rank) {
  char line[20] = "";
  FILE* const file = fopen("left_open", rank == 0 ? "w" : "r");
  if (rank == 0) fprintf(file, "of rank 0\n");
  if (rank > 0 && fgets(line, sizeof line, file) != NULL) printf("%s", line);
}

int main(void) {
  const int rank = atoi(getenv("RANK"));
  static char buffer[100];
  setvbuf(stdout, buffer, _IOLBF, sizeof buffer);
  printf("first half of %d, ", rank);
  usleep(1000);
  printf("second half of %d\n", rank);
  usleep(1000);
  puts("puts");
  fputs("fputs\n", stdout);
  putchar('c'), putc('\n', stdout);
  fwrite("fwrite\n", 1, 7, stdout);
  fprintf(stderr, "error of %d in ", rank);
  usleep(1000);
  fprintf(stderr, "%d parts\n", 2);
  fflush(stdout);
  if (write(STDOUT_FILENO, "write\n", 6) != 6) return 1;
  dprintf(STDOUT_FILENO, "dprintf %d\n", rank);
  struct iovec parts[] = {{"two ", 4}, {"parts\n", 6}};
  if (writev(STDOUT_FILENO, parts, 2) != 10) return 1;
  perror("perror");
  print_long(rank);
  for (int i = 0; i < 50; ++i) {
    printf("%d ", i);
    usleep(10);
  }
  printf("\nterminal %d, descriptors %d %d %d\n", isatty(fileno(stdout)), fileno(stdin), fileno(stdout),
         fileno(stderr));
  if (rank > 0) usleep(100000);
  leave_file(rank);
  fclose(stderr);
  printf("the last line has no end");
  return 0;
}
