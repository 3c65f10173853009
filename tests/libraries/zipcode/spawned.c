/* The node of spawning.c, which obeys the commands of the host. NODE_FORM=global: it begins by another form. */
#include <margay/zipcode.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void start_another(ZIP_MAILER* mailer) {
  char* letter;
  zip_set_error_handler(keep_words);
  zip_new_cohort(1, COHORT_FIRST_NODE, 33, 1);
  zip_set_error_handler(NULL);
  letter = z_new_letter(mailer, (int)sizeof said);
  memcpy(letter, said, sizeof said);
  z_send(mailer, letter, 0);
}

/* Obeys until the mailer is closed. Returns whether another one follows. */
static int obey(ZIP_MAILER* mailer) {
  for (;;) {
    char* letter = z_recvb(mailer, 0);
    const char command = letter[0];
    if (command == 'e') {
      z_send(mailer, letter, 0);
      continue;
    }
    z_free_letter(mailer, letter);
    if (command == 'r') go_round(mailer);
    if (command == 'n') start_another(mailer);
    if (command == 'c') {
      int rank = zip_rank(mailer);
      z_combine(mailer, &rank, add_ints, (int)sizeof rank, 1);
    }
    if (command == 'p') z_send(mailer, z_new_letter(mailer, 20000), 0);
    if (command == 'x' || command == 'q') {
      zip_close(&mailer);
      return command == 'x';
    }
  }
}

int main(void) {
  const char* const form = getenv("FORM");
  const int is_global = form != NULL || getenv("NODE_FORM") != NULL;
  if ((is_global ? Zip_global_init() : Zip_init()) != 0) return 1;
  while (obey(z_open(NULL))) continue;
  zip_exit();
  return 0;
}
