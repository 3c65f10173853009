#include "counter.h"

#include <stdio.h>
#include <stdlib.h>

#include "base.h"

// Read-only after relocation, on pages that are no rank's own.
enum { kNames = 2000 };
static const char* const names[kNames] = {[kNames - 1] = "the last name"};
static int count;
int counter_value = 40;
static _Thread_local int thread_value = 1000;

// Runs once in each rank: the environment is the rank's already.
__attribute__((constructor)) static void begin(void) {
  counter_value += 2;
  printf("constructor of the library in rank %s, base %d\n", getenv("RANK"), base_value);
  printf("the process's environment has %s\n", getenv("PATH") != NULL ? "PATH" : "no PATH");
}

__attribute__((destructor)) static void end(void) {
  printf("destructor of the library after %d calls, base %d, %s\n", count, base_value, names[kNames - 1]);
}

int counter_next(void) {
  base_value += 10;
  return ++count;
}

int counter_thread_value(void) {
  return ++thread_value;
}
