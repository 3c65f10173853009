/* Letters, mailers and collective operations of Zipcode in each process of a job: zipcode_mailing CASE... */
#include <margay/zipcode.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void need(int holds, const char* what, int line) {
  if (holds) return;
  printf("line %d: %s\n", line, what);
  ++failures;
}
#define NEED(condition) need(!!(condition), #condition, __LINE__)

/* The group of all processes, at the process that comes first. */
static ZIP_ADDRESSEES* everyone(int postmaster) {
  if (zip_my_node() != postmaster) return NULL;
  return zip_new_cohort(zip_nodes() - 1, COHORT_FIRST_NODE, 7, 1);
}

/* A letter goes round, and grows at each process. */
static void ring(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER* mailer = z_open(all);
  const int rank = zip_rank(mailer), size = zip_size(mailer);
  int i;
  NEED(zip_class(mailer) == ZIP_Z);
  if (rank == 0) z_send(mailer, z_new_letter(mailer, 0), (rank + 1) % size);
  {
    char* letter = z_recvb(mailer, (rank + size - 1) % size);
    const int length = zip_length(mailer, letter);
    const int expected = rank == 0 ? size - 1 : rank - 1;
    NEED(length == expected);
    for (i = 0; i < length; ++i) NEED(letter[i] == i + 1);
    if (rank != 0) {
      char* next = z_new_letter(mailer, length + 1);
      memcpy(next, letter, (size_t)length);
      next[length] = (char)rank;
      z_send(mailer, next, (rank + 1) % size);
    }
    z_free_letter(mailer, letter);
  }
  NEED(z_recv(mailer, rank) == NULL);
  NEED(zip_sync(mailer) == 0);
  zip_free_addressees(&all);
  NEED(zip_close(&mailer) == 0);
  NEED(mailer == NULL);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"ring", ring}};

int main(int argc, char** argv) {
  int i;
  size_t c;
  NEED(Zip_nohost_init() == 0);
  for (i = 1; i < argc; ++i) {
    for (c = 0; c < sizeof cases / sizeof cases[0]; ++c) {
      if (strcmp(argv[i], cases[c].name) == 0) cases[c].run();
    }
    if (zip_my_node() == 0 && failures == 0) printf("%s: right\n", argv[i]);
  }
  zip_exit();
  return failures != 0;
}
