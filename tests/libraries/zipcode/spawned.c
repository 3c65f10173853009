/* The node of spawning.c, which obeys the commands of the host. FORM: its form of initialisation; NODE_FORM: another
 * one than that of the host. */
#include "cases.h"

#include <unistd.h>

static char said[1024];
static void keep_words(const char* words) {
  snprintf(said, sizeof said, "%s", words);
}

ZIP_COMBINE_METHOD(add_ints, int, a, b, a + b);

static void go_round(ZIP_MAILER* mailer) {
  const int nodes = zip_size(mailer) - 1, rank = zip_rank(mailer);
  char* letter = z_new_letter(mailer, 1);
  letter[0] = (char)rank;
  z_send(mailer, letter, rank % nodes + 1);
  z_send(mailer, z_recvb(mailer, (rank + nodes - 2) % nodes + 1), 0);
}

/* The words of the last error go to the host. */
static void report_words(ZIP_MAILER* mailer) {
  char* const letter = z_new_letter(mailer, (int)sizeof said);
  memcpy(letter, said, sizeof said);
  z_send(mailer, letter, 0);
}

static void order(ZIP_MAILER* mailer, int node, char command, int length) {
  char* letter = z_new_letter(mailer, length);
  letter[0] = command;
  z_send(mailer, letter, node);
}

/* Starts three nodes of its own, more than began with the job, exchanges letters with them, and lets them end, or ends
 * them. */
static void start_others(ZIP_MAILER* mailer, int ends_them) {
  ZIP_ADDRESSEES* const group = zip_new_cohort(3, COHORT_FIRST_NODE, 34, 1);
  ZIP_MAILER* own;
  int sum = 0, node;
  if (group == NULL || zip_spawn(getenv("NODE_PROGRAM"), group) != 0) exit(3);
  own = z_open(group);
  for (node = 1; node <= 3; ++node) {
    order(own, node, 'e', 20000);
    z_free_letter(own, z_recvb(own, node));
    order(own, node, 'c', 1);
  }
  z_combine(own, &sum, add_ints, (int)sizeof sum, 1);
  if (sum != 6) exit(4);
  if (ends_them && zip_kill(group) != 0) exit(5);
  for (node = 1; node <= 3 && !ends_them; ++node) order(own, node, 'q', 1);
  zip_close(&own);
  snprintf(said, sizeof said, "%d", zip_addressee(group, 1).node);
  report_words(mailer);
}

/* Calls that a node which is ended makes fail. */
static void fail_in(ZIP_MAILER* mailer, char command, int rank) {
  said[0] = '\0';
  zip_set_error_handler(keep_words);
  if (command == 'W') {
    /* Letters that it has sent before are received. */
    char* letter;
    while ((letter = z_recvb(mailer, rank)) != NULL) z_free_letter(mailer, letter);
  }
  if (command == 'C') {
    while (z_combine(mailer, &rank, add_ints, (int)sizeof rank, 1) == 0) continue;
  }
  zip_set_error_handler(NULL);
  report_words(mailer);
}

/* Ends a node after a while, in which others begin to wait for it. */
static void end_node(int node) {
  const Zip_process process = {node, 33};
  ZIP_ADDRESSEES* group = zip_new_addressees(1, &process);
  usleep(200000);
  if (zip_kill(group) != 0) exit(6);
  zip_free_addressees(&group);
}

/* Opens a mailer with one that is ended meanwhile. */
static void fail_to_open(ZIP_MAILER* mailer) {
  ZIP_MAILER* opened;
  said[0] = '\0';
  zip_set_error_handler(keep_words);
  opened = z_open(NULL);
  zip_set_error_handler(NULL);
  if (opened != NULL) {
    snprintf(said, sizeof said, "z_open: was opened without it");
    zip_close(&opened);
  }
  report_words(mailer);
}

/* Obeys until the mailer is closed. Returns whether another one follows. */
static int obey(ZIP_MAILER* mailer) {
  for (;;) {
    char* letter = z_recvb(mailer, 0);
    const char command = letter[0];
    const int argument = zip_length(mailer, letter) > 1 ? letter[1] : 0;
    if (command == 'e') {
      z_send(mailer, letter, 0);
      continue;
    }
    z_free_letter(mailer, letter);
    if (command == 'r') go_round(mailer);
    if (command == 'n' || command == 'k') start_others(mailer, command == 'k');
    if (command == 'W' || command == 'C') fail_in(mailer, command, argument);
    if (command == 'K') end_node(argument);
    if (command == 'O') fail_to_open(mailer);
    if (command == 'p' && argument != 0) pause();
    if (command == 's') {
      /* Sends until it is ended. */
      int turn;
      for (turn = 0;; ++turn) z_send(mailer, z_new_letter(mailer, turn % 3 == 0 ? 20000 : 100), argument);
    }
    if (command == 'c') {
      int rank = zip_rank(mailer);
      z_combine(mailer, &rank, add_ints, (int)sizeof rank, 1);
    }
    if (command == 'p' && argument == 0) z_send(mailer, z_new_letter(mailer, 20000), 0);
    if (command == 'x' || command == 'q') {
      zip_close(&mailer);
      return command == 'x';
    }
  }
}

int main(void) {
  const char* const form = getenv("NODE_FORM");
  if (begin_by(form != NULL ? form : getenv("FORM")) != 0) return 1;
  while (obey(z_open(NULL))) continue;
  zip_exit();
  return 0;
}
