/* Letters of class Y, Z or L: cost.h.   margay run -n 2 ./letters FILE Y|Z|L */
#include "cost.h"

#include <margay/zipcode.h>

#include <stdlib.h>

enum { kTag = 7, kPid = 33 };

static ZIP_MAILER* mailer;
static uint64_t sent, expected;

static char* written(void) {
  char* letter = zip_malloc(mailer, (int)sizeof sent);
  *(uint64_t*)letter = sent++;
  return letter;
}
static void read_letter(char* letter) {
  if (*(uint64_t*)letter != expected++) abort();
  zip_free(mailer, letter);
}

static void send_y(void) {
  int i;
  for (i = 0; i < kWindow; ++i) y_send(mailer, written(), 1, kPid, kTag);
}
static void receive_y(void) {
  int i;
  for (i = 0; i < kWindow; ++i) read_letter(y_recvb(mailer, kTag));
}
static void send_z(void) {
  int i;
  for (i = 0; i < kWindow; ++i) z_send(mailer, written(), 1);
}
static void receive_z(void) {
  int i;
  for (i = 0; i < kWindow; ++i) read_letter(z_recvb(mailer, 0));
}
static void send_l(void) {
  int i;
  for (i = 0; i < kWindow; ++i) l_send(mailer, written(), 1, kPid, kTag);
}
static void receive_l(void) {
  int i;
  for (i = 0; i < kWindow; ++i) read_letter(l_recvb(mailer, 0, kPid, kTag));
}

int main(int argc, char** argv) {
  ZIP_ADDRESSEES* both = NULL;
  const char letter = argc == 3 ? argv[2][0] : 0;
  int failed;
  if (letter != 'Y' && letter != 'Z' && letter != 'L') {
    fprintf(stderr, "use: margay run -n 2 %s FILE Y|Z|L\n", argv[0]);
    return 2;
  }
  if (Zip_nohost_init() != 0) return 1;
  if (zip_nodes() != 2) {
    fprintf(stderr, "%s: takes two processes; start it with: margay run -n 2\n", argv[0]);
    return 2;
  }
  if (zip_my_node() == 0) both = zip_new_cohort(1, COHORT_FIRST_NODE, kPid, 1);
  mailer = letter == 'Y' ? y_open(both) : letter == 'Z' ? z_open(both) : l_open(both);
  zip_free_addressees(&both);
  failed = letter == 'Y'   ? run_windows(zip_my_node(), argv[1], NULL, send_y, receive_y)
           : letter == 'Z' ? run_windows(zip_my_node(), argv[1], NULL, send_z, receive_z)
                           : run_windows(zip_my_node(), argv[1], NULL, send_l, receive_l);
  zip_close(&mailer);
  zip_exit();
  return failed;
}
