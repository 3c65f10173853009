// A program that prints lines of growing length in pieces, so that a reader of several of them must join the pieces.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  const int lines = argc > 1 ? atoi(argv[1]) : 10;
  const int rank = atoi(getenv("PMI_RANK"));
  for (int line = 0; line < lines; ++line) {
    char text[512];
    int length = snprintf(text, sizeof text, "rank %d line %d ", rank, line);
    memset(text + length, 'x', (size_t)(line % 300));
    length += line % 300;
    text[length++] = '\n';
    const int half = length / 2;
    if (write(1, text, (size_t)half) != half || write(1, text + half, (size_t)(length - half)) != length - half)
      return 1;
  }
  return 0;
}
