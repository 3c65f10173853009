/* What the programs on invoices have in common: conditions, and cases that every process runs. Node 0 prints
 * "CASE: right" if nothing was wrong in it. */
#pragma once

#include <margay/zipcode.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void need(int holds, const char* what, int line) {
  if (holds) return;
  printf("node %d, line %d: %s\n", zip_my_node(), line, what);
  ++failures;
}
#define NEED(condition) need(!!(condition), #condition, __LINE__)

/* The group of all processes, at node 0; NULL elsewhere. */
static ZIP_ADDRESSEES* everyone(void) {
  return zip_my_node() == 0 ? zip_new_cohort(zip_nodes() - 1, COHORT_FIRST_NODE, 7, 1) : NULL;
}

struct test_case {
  const char* name;
  void (*run)(void);
};

/* Runs the cases of the command line. */
static int run_cases(int argc, char** argv, const struct test_case* cases, size_t count) {
  int i;
  size_t c;
  NEED(Zip_nohost_init() == 0);
  for (i = 1; i < argc; ++i) {
    for (c = 0; c < count; ++c)
      if (strcmp(argv[i], cases[c].name) == 0) cases[c].run();
    if (zip_my_node() == 0 && failures == 0) printf("%s: right\n", argv[i]);
  }
  zip_exit();
  return failures != 0;
}
