/* A process kills itself at a place of Zipcode: zipcode_deaths PLACE. Each other process must get an error from the
 * call that needs it, prints "node N: lost: MESSAGE", and exits with status 0; it prints nothing if no call fails. The
 * error may name another process that had the error first and has left: it is as lost as a dead one. */
#include <margay/zipcode.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void report_loss(const char* message) {
  if (strstr(message, "is lost") != NULL) printf("node %d: lost: %s\n", zip_my_node(), message);
  fflush(stdout);
  _exit(0);
}

static void add_ints(void* into, const void* from, int size, int items, void* state) {
  int i;
  (void)size, (void)state;
  for (i = 0; i < items; ++i) ((int*)into)[i] += ((const int*)from)[i];
}

static int victim = 1;
static void die_if_victim(void) {
  if (zip_my_node() == victim) raise(SIGKILL);
}

static ZIP_MAILER* open_all(void) {
  ZIP_ADDRESSEES* all = zip_my_node() == 0 ? zip_new_cohort(zip_nodes() - 1, 0, 7, 1) : NULL;
  ZIP_MAILER* mailer = z_open(all);
  zip_free_addressees(&all);
  return mailer;
}

static void lose(const char* place) {
  ZIP_MAILER* mailer;
  Method* add = zip_new_method(add_ints, NULL);
  int value = 1, length = (int)sizeof value;
  void* data = &value;
  /* The Postmaster General, before it issues ids. */
  if (strcmp(place, "server") == 0) victim = 0;
  if (strcmp(place, "open") == 0 || strcmp(place, "server") == 0) die_if_victim();
  mailer = open_all();
  if (strcmp(place, "long") == 0) {
    /* The letter of the victim stays with it. */
    if (zip_my_node() == victim) {
      int rank;
      for (rank = 0; rank < zip_size(mailer); ++rank) {
        if (rank != zip_rank(mailer)) z_send(mailer, z_new_letter(mailer, 1000000), rank);
      }
      /* The notices leave first. */
      zip_sync(mailer);
    } else {
      zip_sync(mailer);
    }
  }
  if (strcmp(place, "shared") == 0) zip_use_shared_memory(mailer);
  die_if_victim();
  if (strcmp(place, "receive") == 0 || strcmp(place, "long") == 0) {
    sleep(1);
    z_recvb(mailer, victim);
  }
  if (strcmp(place, "fanout") == 0) z_fanout(mailer, &data, &length, victim);
  if (strcmp(place, "close") == 0) zip_close(&mailer);
  if (strcmp(place, "exit") == 0) zip_exit();
  for (;;) {
    if (z_combine(mailer, &value, add, (int)sizeof value, 1) != 0) return;
  }
}

int main(int argc, char** argv) {
  zip_set_error_handler(report_loss);
  if (Zip_nohost_init() != 0 || argc != 2) return 2;
  lose(argv[1]);
  return 2;
}
