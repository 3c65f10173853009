/* A library that shares a mailer with its caller, and one with a mailer of its own. Part 1 is for your predictions: do
 * not change it. Parts 2 to 4 have the same faults; fix them in the blanks. */
#include <margay/zipcode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "variant.h"

enum { kPid = 0, kTallyTag = 7 };

static int me, size;
/* All processes, at process 0, which is the Postmaster; NULL at the others. */
static ZIP_ADDRESSEES* group;
/* The mailers of the program: letters with tags, of class L, and the words of in_order(). */
static ZIP_MAILER *town, *words;

/* --- Letters of one int, by rank in any mailer. --- */

/* In a mailer of class L the letter has the tag kTallyTag; the other classes have no tags. */
static void post(ZIP_MAILER* mailer, int to, int value) {
  char* letter = zip_malloc(mailer, sizeof value);
  memcpy(letter, &value, sizeof value);
  switch (zip_class(mailer)) {
    case ZIP_L: {
      ZIP_ADDRESSEES* members = zip_addressees(mailer);
      const Zip_process process = zip_addressee(members, to);
      l_send(mailer, letter, process.node, process.pid, kTallyTag);
      zip_free_addressees(&members);
      break;
    }
    case ZIP_G1:
      g1_send(mailer, letter, to);
      break;
    case ZIP_G2:
      g2_send(mailer, letter, to / zip_shape(mailer, ZIP_G2, 1), to % zip_shape(mailer, ZIP_G2, 1));
      break;
    default:
      z_send(mailer, letter, to);
  }
}

/* Receives the earliest letter of a rank; of any one with ZIP_ANY, which only class L has. */
static int take(ZIP_MAILER* mailer, int from) {
  char* letter = NULL;
  int value = 0;
  if (from == ZIP_ANY && zip_class(mailer) != ZIP_L) {
    fprintf(stderr, "BLANK 2: a mailer of this class selects letters by their sender, and has no wildcard\n");
    exit(1);
  }
  switch (zip_class(mailer)) {
    case ZIP_L: {
      Zip_process process = {ZIP_ANY, ZIP_ANY};
      ZIP_ADDRESSEES* members = zip_addressees(mailer);
      if (from != ZIP_ANY) process = zip_addressee(members, from);
      letter = l_recvb(mailer, process.node, process.pid, kTallyTag);
      zip_free_addressees(&members);
      break;
    }
    case ZIP_G1:
      letter = g1_recvb(mailer, from);
      break;
    case ZIP_G2:
      letter = g2_recvb(mailer, from / zip_shape(mailer, ZIP_G2, 1), from % zip_shape(mailer, ZIP_G2, 1));
      break;
    default:
      letter = z_recvb(mailer, from);
  }
  if (zip_length(mailer, letter) == sizeof value) memcpy(&value, letter, sizeof value);
  zip_free(mailer, letter);
  return value;
}

/* Runs `calls` in the processes in a fixed order, enforced by words and not by time: those of kOrder, then process 0.
 * All letters that a process has sent to process 0 have arrived there when the next process begins. */
static void in_order(void (*calls)(void)) {
  int i;
  if (me != 0) {
    z_free_letter(words, z_recvb(words, 0));
    calls();
    z_send(words, z_new_letter(words, 0), 0);
    return;
  }
  for (i = 0; i < kOrderCount; ++i) {
    z_send(words, z_new_letter(words, 0), kOrder[i]);
    z_free_letter(words, z_recvb(words, kOrder[i]));
  }
  calls();
}

/* --- The program's own letters: strays, which it receives late. --- */

static void send_strays(void) {
  int i;
  for (i = 0; i < kStrayFromCount; ++i) {
    char* letter;
    if (kStrayFrom[i] != me) continue;
    letter = l_new_letter(town, sizeof(int));
    memcpy(letter, &kStrayValue[i], sizeof(int));
    l_send(town, letter, 0, kPid, kStrayTag[i]);
  }
}

static void receive_strays(int part) {
  int i;
  printf("part %d: strays", part);
  for (i = 0; i < kStrayFromCount; ++i) {
    char* letter = l_recvb(town, ZIP_ANY, ZIP_ANY, kStrayTag[i]);
    int value;
    memcpy(&value, letter, sizeof value);
    l_free_letter(town, letter);
    printf(" %d", value);
  }
  printf("\n");
}

/* --- Part 1: a library that uses the mailer of its caller. --- */

/* The sum of the values of all processes, at process 0. */
static int tally(int mine) {
  int i, sum = mine;
  if (me != 0) {
    post(town, 0, mine);
    return 0;
  }
  for (i = 1; i < size; ++i) sum += take(town, ZIP_ANY);
  return sum;
}

static void part_1(void) {
  int sum;
  send_strays();
  sum = tally(kShare[me]);
  if (me != 0) return;
  printf("part 1: sum %d\n", sum);
  receive_strays(1);
}

/* --- Parts 2 and 3: the library repaired. Its caller has the same strays, and calls it kCalls times. --- */

static ZIP_MAILER* library;

static void open_library(void) {
  library = town;
  /* BLANK 1: open a mailer of the library's own, so that it never receives a letter of the program */
  /* END 1 */
}

static int repaired_tally(int mine) {
  int i, sum = mine;
  if (me != 0) {
    post(library, 0, mine);
    return 0;
  }
  for (i = 1; i < size; ++i) {
    int from = ZIP_ANY;
    /* BLANK 2: the process whose letter is received, so that calls back to back do not take each other's letters */
    /* END 2 */
    sum += take(library, from);
  }
  return sum;
}

static void part_2(void) {
  int sum;
  send_strays();
  sum = repaired_tally(kShare[me]);
  if (me != 0) return;
  printf("part 2: sum %d\n", sum);
  receive_strays(2);
}

static void part_3(void) {
  int call, step = 1;
  for (call = 0; call < kCalls; ++call, step *= 100) {
    const int sum = repaired_tally(step);
    if (me == 0) printf("part 3: call %d sum %d\n", call, sum);
  }
}

/* --- Part 4: two instances of the library at once, on overlapping groups. --- */

static void begin_tally(ZIP_MAILER* mailer, int mine) {
  if (zip_rank(mailer) != 0) post(mailer, 0, mine);
}
static void end_tally(ZIP_MAILER* mailer, int mine, const char* name) {
  int i, sum = mine;
  if (zip_rank(mailer) != 0) return;
  for (i = 1; i < zip_size(mailer); ++i) sum += take(mailer, i);
  printf("part 4: process %d, %s: sum %d\n", me, name, sum);
}

static void part_4(void) {
  int P = kRows, Q = kColumns;
  ZIP_MAILER *grid = g2_grid_open(&P, &Q, group), *by_row = grid, *by_column = grid;
  /* BLANK 3: the mailers of this process's row and of its column, which the grid has already */
  /* END 3 */
  begin_tally(by_row, kShare[me]);
  begin_tally(by_column, 100 * kShare[me]);
  end_tally(by_column, 100 * kShare[me], "column");
  end_tally(by_row, kShare[me], "row");
  zip_close(&grid);
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  Zip_nohost_init();
  me = zip_my_node();
  size = zip_nodes();
  if (size != kRows * kColumns) {
    if (me == 0) fprintf(stderr, "this lab takes %d processes\n", kRows * kColumns);
    zip_exit();
    return 1;
  }
  if (me == 0) group = zip_new_cohort(size - 1, COHORT_FIRST_NODE, kPid, 1);
  town = l_open(group);
  words = z_open(group);
  in_order(part_1);
  zip_sync(words);
  open_library();
  in_order(part_2);
  zip_sync(words);
  in_order(part_3);
  zip_sync(words);
  part_4();
  if (library != town && library != words) zip_close(&library);
  zip_close(&words);
  zip_close(&town);
  zip_exit();
  return 0;
}
