// Reads standard input in each way; only rank 0 has input.

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  int number = -1;
  char line[80] = "";
  for (int round = 0; round < 3; ++round) {
    puts("number?");
    const int found = scanf("%d", &number);
    usleep(1000);
    printf("%d %d, next %d\n", found, number, getchar());
  }
  const int has_line = fgets(line, sizeof line, stdin) != NULL;
  usleep(1000);
  printf("%d %s\n", has_line, line);
  usleep(1000);
  int lines = 0;
  for (; fgets(line, sizeof line, stdin) != NULL; ++lines) {
    if (lines % 1000 == 0) usleep(1000);
  }
  printf("%d lines, the last is %s", lines, line);
  usleep(1000);
  printf("end %d, read %zd\n", feof(stdin) != 0, read(STDIN_FILENO, line, sizeof line));
  return 0;
}
