/* An asynchronous collective operation as a library of the user (paper, section 4): a sum in two phases. sum_begin()
 * starts it and returns at once; sum_test() takes what has arrived, and never waits. In between, the program sends and
 * receives its own letters. The library has a mailer of its own, so that nothing is mixed up.
 *
 *   margay run -n 4 ./split_sum */
#include <margay/zipcode.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- The library. --- */

typedef struct Sum {
  ZIP_MAILER* mailer;
  int* has_arrived; /* by rank */
  int missing;
  long total;
} Sum;

/* Called by all members of `of_program`. Each one sends its value to the others. */
static Sum sum_begin(ZIP_MAILER* of_program, long value) {
  ZIP_ADDRESSEES* group = zip_rank(of_program) == 0 ? zip_addressees(of_program) : NULL;
  Sum sum;
  int rank;
  sum.mailer = z_open(group);
  zip_free_addressees(&group);
  sum.has_arrived = calloc((size_t)zip_size(sum.mailer), sizeof *sum.has_arrived);
  sum.missing = zip_size(sum.mailer) - 1;
  sum.total = value;
  for (rank = 0; rank < zip_size(sum.mailer); ++rank) {
    char* letter;
    if (rank == zip_rank(sum.mailer)) continue;
    letter = z_new_letter(sum.mailer, (int)sizeof value);
    memcpy(letter, &value, sizeof value);
    z_send(sum.mailer, letter, rank);
  }
  return sum;
}

/* Returns 1 if the sum is complete. */
static int sum_test(Sum* sum) {
  int rank;
  for (rank = 0; rank < zip_size(sum->mailer) && sum->missing > 0; ++rank) {
    char* letter;
    long value;
    if (sum->has_arrived[rank] || rank == zip_rank(sum->mailer)) continue;
    letter = z_recv(sum->mailer, rank);
    if (letter == NULL) continue;
    memcpy(&value, letter, sizeof value);
    z_free_letter(sum->mailer, letter);
    sum->total += value;
    sum->has_arrived[rank] = 1;
    --sum->missing;
  }
  return sum->missing == 0;
}

static void sum_end(Sum* sum) {
  zip_close(&sum->mailer);
  free(sum->has_arrived);
}

/* --- The program: a token goes round while two sums are under way. --- */

int main(void) {
  ZIP_ADDRESSEES* all = NULL;
  ZIP_MAILER* mailer;
  Sum ranks, squares;
  char* token;
  int rank, size, is_complete = 0;
  if (Zip_nohost_init() != 0) return 1;
  if (zip_my_node() == 0) all = zip_new_cohort(zip_nodes() - 1, COHORT_FIRST_NODE, 33, 1);
  mailer = z_open(all);
  zip_free_addressees(&all);
  rank = zip_rank(mailer);
  size = zip_size(mailer);

  ranks = sum_begin(mailer, rank);
  squares = sum_begin(mailer, (long)rank * rank);
  if (rank == 0) z_send(mailer, z_new_letter(mailer, 5), 1 % size);
  token = z_recvb(mailer, (rank + size - 1) % size);
  if (rank != 0)
    z_send(mailer, token, (rank + 1) % size); /* the letter itself is sent on */
  else
    z_free_letter(mailer, token);
  while (!is_complete) {
    is_complete = sum_test(&ranks);
    is_complete = sum_test(&squares) && is_complete;
  }
  printf("process %d: the sum of the ranks is %ld, that of their squares %ld\n", rank, ranks.total, squares.total);
  sum_end(&ranks);
  sum_end(&squares);
  zip_close(&mailer);
  zip_exit();
  return 0;
}
