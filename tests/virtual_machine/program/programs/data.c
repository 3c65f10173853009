// Each kind of data that a rank has for itself, changed by each rank between sleeps: variables of the program and of
// its library, thread-local ones, errno, and an array whose pages are remapped.

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counter.h"

enum { kLarge = 1 << 20 };

static int zero;
static int initialized = 7;
static const char* text = "initial";
int exported = 3;
_Thread_local int thread_zero;
_Thread_local int thread_initialized = 11;
static char large[kLarge];
static int large_initialized[kLarge] = {1, 2, 3};
static int* pointer = &initialized;

static int calls(void) {
  static int count = 100;
  return ++count;
}

static long sum_of_large(void) {
  long sum = 0;
  for (int i = 0; i < kLarge; ++i) sum += large[i] + large_initialized[i];
  return sum;
}

static void print(void) {
  printf("%d %d %s %d %d %d %d %ld %d\n", zero, initialized, text, exported, thread_zero, thread_initialized, *pointer,
         sum_of_large(), calls());
  printf("library %d %d %d, errno %s\n", counter_next(), counter_value, counter_thread_value(), strerrorname_np(errno));
}

int main(int argc, char** argv) {
  const int rank = atoi(getenv("RANK"));
  print();
  for (int round = 0; round < 4; ++round) {
    zero += rank;
    initialized -= rank;
    if (rank == 1) text = round % 2 == 0 ? "even" : "odd";
    exported *= rank + 1;
    thread_zero = rank * 10 + round;
    thread_initialized += rank;
    large[round * 40000 + rank] = (char)(rank + 1);
    large_initialized[round * 100000] += rank;
    counter_value += rank;
    errno = rank == 0 ? ENOENT : rank == 1 ? EINVAL : EDOM;
    usleep(1000 + 100 * rank);
    print();
  }
  snprintf(argv[0], strlen(argv[0]) + 1, "%d", rank);
  usleep(1000);
  printf("%d arguments, the first is %s\n", argc, argv[0]);
  return rank == 2 ? 5 : 0;
}
