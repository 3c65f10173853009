/* Work of a process whose program computes outside of Zipcode: zipcode_serving CASE... Such a process computes until
 * another one, which needs that work first, has made a file in the folder DONE. */
#include "cases.h"

static void name_of(const char* what, char* path, size_t bytes) {
  const char* const folder = getenv("DONE");
  snprintf(path, bytes, "%s/%s", folder == NULL ? "." : folder, what);
}
static void report_done(const char* what) {
  char path[4096];
  FILE* file;
  name_of(what, path, sizeof path);
  file = fopen(path, "w");
  NEED(file != NULL && fclose(file) == 0);
}
static void compute_until_done(const char* what) {
  char path[4096];
  FILE* file = NULL;
  name_of(what, path, sizeof path);
  while (file == NULL) file = fopen(path, "r");
  fclose(file);
}

/* Process 0 computes while the others open and close mailers: the Postmaster General serves them. */
static void opening(void) {
  ZIP_MAILER* all = open_all(0);
  const int me = zip_my_node(), nodes = zip_nodes();
  int round;
  if (me == 0) {
    compute_until_done("opening");
  } else {
    for (round = 0; round < 3; ++round) {
      /* Each of the others is the Postmaster once, if there are enough of them. */
      const int postmaster = 1 + round % (nodes - 1);
      Zip_process first;
      ZIP_ADDRESSEES* group = NULL;
      ZIP_MAILER* mailer;
      first.node = postmaster;
      first.pid = 7;
      if (me == postmaster) {
        ZIP_ADDRESSEES* one = zip_new_addressees(1, &first);
        ZIP_ADDRESSEES* every = zip_new_cohort(nodes, 0, 7, 0);
        const int zero = 0;
        ZIP_ADDRESSEES* others = zip_exclude(every, 1, &zero);
        group = zip_union(one, others);
        zip_free_addressees(&one);
        zip_free_addressees(&every);
        zip_free_addressees(&others);
      }
      mailer = z_open(group);
      NEED(zip_size(mailer) == nodes - 1);
      NEED(zip_sync(mailer) == 0);
      zip_free_addressees(&group);
      zip_close(&mailer);
    }
    if (me == nodes - 1) report_done("opening");
  }
  zip_close(&all);
}

/* Process 0 computes after it has sent a long letter, which its receiver gets from it: by z_recvb, and by polls. */
static void long_letter_by(int blocked, const char* what) {
  ZIP_MAILER* all = open_all(0);
  const int rank = zip_rank(all), last = zip_size(all) - 1, bytes = 1000000;
  if (rank == 0) {
    char* letter = z_new_letter(all, bytes);
    memset(letter, 5, (size_t)bytes);
    z_send(all, letter, last);
    compute_until_done(what);
  } else if (rank == last) {
    char* letter = blocked ? z_recvb(all, 0) : NULL;
    while (letter == NULL) letter = z_recv(all, 0);
    NEED(zip_length(all, letter) == bytes && letter[bytes - 1] == 5);
    z_free_letter(all, letter);
    report_done(what);
  }
  zip_close(&all);
}
static void long_letter(void) {
  long_letter_by(1, "long_letter");
}
static void polled_letter(void) {
  long_letter_by(0, "polled_letter");
}

static const Case cases[] = {{"opening", opening}, {"long_letter", long_letter}, {"polled_letter", polled_letter}};

int main(int argc, char** argv) {
  return run_program(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
