/* The frame of the test programs: checks, groups of all processes, and the cases that the arguments name. */
#ifndef TESTS_LIBRARIES_ZIPCODE_CASES_H
#define TESTS_LIBRARIES_ZIPCODE_CASES_H

#include <margay/zipcode.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static inline void need(int holds, const char* what, int line) {
  if (holds) return;
  ++failures;
  if (failures > 10) return;
  printf("line %d: %s\n", line, what);
  fflush(stdout);
}
#define NEED(condition) need(!!(condition), #condition, __LINE__)

typedef struct Case {
  const char* name;
  void (*run)(void);
} Case;

/* The group of all processes, in their order from `postmaster` on; NULL in all others. */
static inline ZIP_ADDRESSEES* everyone(int postmaster) {
  ZIP_ADDRESSEES *first, *all;
  Zip_process process;
  if (zip_my_node() != postmaster) return NULL;
  process.node = postmaster;
  process.pid = 7;
  first = zip_new_addressees(1, &process);
  all = zip_union(first, first);
  zip_free_addressees(&first);
  {
    ZIP_ADDRESSEES* others = zip_new_cohort(zip_nodes(), postmaster, 7, 0);
    ZIP_ADDRESSEES* both = zip_union(all, others);
    zip_free_addressees(&all);
    zip_free_addressees(&others);
    return both;
  }
}

/* Opens a Z mailer of all processes. */
static inline ZIP_MAILER* open_all(int postmaster) {
  ZIP_ADDRESSEES* all = everyone(postmaster);
  ZIP_MAILER* mailer = z_open(all);
  zip_free_addressees(&all);
  return mailer;
}

/* Begins by the form of this name; NULL: the host's. */
static inline int begin_by(const char* form) {
  if (form == NULL || strcmp(form, "host") == 0) return Zip_init();
  if (strcmp(form, "global") == 0) return Zip_global_init();
  if (strcmp(form, "nohost") == 0) return Zip_nohost_init();
  return strcmp(form, "nohost_global") == 0 ? Zip_nohost_global_init() : -1;
}

/* Runs the cases that the arguments name, and prints at node 0 which were right everywhere. */
static inline int run_cases(int argc, char** argv, const Case* cases, size_t count) {
  int i;
  size_t c;
  for (i = 1; i < argc; ++i) {
    const int before = failures;
    int found = 0;
    for (c = 0; c < count; ++c) {
      if (strcmp(argv[i], cases[c].name) != 0) continue;
      found = 1;
      cases[c].run();
    }
    NEED(found);
    if ((zip_my_node() == 0 || zip_nodes() == 0) && failures == before) printf("%s: right\n", argv[i]);
  }
  return failures != 0;
}

/* The same from begin to end, which is the whole main function of a program. FORM: of the begin, otherwise "nohost". */
static inline int run_program(int argc, char** argv, const Case* cases, size_t count) {
  const char* const form = getenv("FORM");
  int result;
  NEED(begin_by(form == NULL ? "nohost" : form) == 0);
  result = run_cases(argc, argv, cases, count);
  zip_exit();
  return result;
}

#endif
