// The ways to end a rank, by the program's first argument, with handlers that must run or must not.

#define _GNU_SOURCE
#include <err.h>
#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int depth;

static void handler(void) {
  printf("handler at depth %d\n", depth);
}

static void late_handler(void) {
  puts("handler that a handler has registered");
}

static void first_handler(void) {
  atexit(late_handler);
  usleep(1000);
  puts("the last handler runs first");
}

static void with_status(int status, void* argument) {
  printf("status %d, %s\n", status, (const char*)argument);
}

__attribute__((constructor)) static void begin(void) {
  puts("constructor");
}

__attribute__((destructor)) static void end(void) {
  puts("destructor");
}

static void end_deeply(const char* way, int status) {
  if (++depth < 10) return end_deeply(way, status);
  usleep(1000);
  if (strcmp(way, "exit") == 0) exit(status);
  if (strcmp(way, "_exit") == 0) fflush(stdout), _exit(status);
  if (strcmp(way, "_Exit") == 0) fflush(stdout), _Exit(status);
  if (strcmp(way, "quick_exit") == 0) fflush(stdout), quick_exit(status);
  if (strcmp(way, "errx") == 0) errx(status, "cannot continue");
  if (strcmp(way, "error") == 0) error(status, 0, "cannot continue");
}

int main(int argc, char** argv) {
  const int rank = atoi(getenv("RANK"));
  atexit(handler);
  on_exit(with_status, "on_exit");
  atexit(first_handler);
  if (argc > 1) end_deeply(argv[1], rank + 3);
  return rank + 20;
}
