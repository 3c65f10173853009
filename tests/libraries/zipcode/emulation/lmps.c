/* Tagged messages in the manner of LMPS, of two subroutines with equal tags: zipcode_lmps */
#include <margay/zipcode_lmps.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void need(int holds, const char* what, int line) {
  if (holds) return;
  printf("process %d, line %d: %s\n", zip_my_node(), line, what);
  ++failures;
}
#define NEED(condition) need(!!(condition), #condition, __LINE__)

static char last_error[500];
static void keep_error(const char* message) {
  snprintf(last_error, sizeof last_error, "%s", message);
}

/* Everybody to everybody, received by sender, by tag, and by neither. */
static void exchange(ZIP_MAILER* mailer, int salt) {
  const int me = lmps_me(mailer), size = lmps_processes(mailer);
  int to, i, value, from;
  long tag;
  for (to = 0; to < size; ++to) {
    for (i = 0; i < 3; ++i) {
      value = salt + 100 * me + i;
      NEED(lmps_send(mailer, &value, sizeof value, to, 10 + i) == 0);
    }
  }
  /* By sender and tag, the last sender first. */
  for (i = size - 1; i >= 0; --i) {
    from = i;
    tag = 12;
    NEED(lmps_recv(mailer, &value, sizeof value, &from, &tag) == sizeof value);
    NEED(value == salt + 100 * i + 2 && from == i && tag == 12);
  }
  /* By tag. */
  for (i = 0; i < size; ++i) {
    from = LMPS_ANY;
    tag = 11;
    NEED(lmps_recv(mailer, &value, sizeof value, &from, &tag) == sizeof value);
    NEED(value == salt + 100 * from + 1);
  }
  /* By nothing. */
  for (i = 0; i < size; ++i) NEED(lmps_recv(mailer, &value, sizeof value, NULL, NULL) == sizeof value && value >= salt);
  NEED(lmps_try_recv(mailer, &value, sizeof value, NULL, NULL) == -2);
}

static void mistakes(ZIP_MAILER* mailer) {
  int value = 1, from = 99;
  zip_set_error_handler(keep_error);
  NEED(lmps_send(mailer, &value, sizeof value, 99, 1) == -1 &&
       strstr(last_error, "lmps_send: invalid process 99") != NULL);
  NEED(lmps_send(mailer, &value, sizeof value, 0, -4) == -1 && strstr(last_error, "invalid tag -4") != NULL);
  NEED(lmps_send(mailer, NULL, 4, 0, 1) == -1);
  NEED(lmps_recv(mailer, &value, sizeof value, &from, NULL) == -1 && strstr(last_error, "invalid process 99") != NULL);
  NEED(lmps_send(mailer, "four", 4, lmps_me(mailer), 1) == 0);
  NEED(lmps_recv(mailer, &value, 2, NULL, NULL) == -1 && strstr(last_error, "longer than the buffer of 2") != NULL);
  zip_set_error_handler(NULL);
}

int main(void) {
  ZIP_ADDRESSEES* all = NULL;
  ZIP_MAILER *one, *other;
  int value;
  Zip_nohost_init();
  if (zip_my_node() == 0) all = zip_new_cohort(zip_nodes() - 1, COHORT_FIRST_NODE, 3, 1);
  one = l_open(all);
  other = l_open(all);
  /* A message of the program with the tag of the subroutine, which stays. */
  value = 424242;
  NEED(lmps_send(one, &value, sizeof value, lmps_me(one), 10) == 0);
  exchange(other, 1000);
  NEED(lmps_recv(one, &value, sizeof value, NULL, NULL) == sizeof value && value == 424242);
  exchange(one, 2000);
  value = lmps_me(one) == 0 ? 77 : 0;
  NEED(lmps_broadcast(one, &value, sizeof value, 0) == 0 && value == 77);
  mistakes(one);
  NEED(lmps_sync(one) == 0);
  if (all != NULL) zip_free_addressees(&all);
  zip_close(&one);
  zip_close(&other);
  if (zip_my_node() == 0 && failures == 0) printf("lmps: right\n");
  zip_exit();
  return failures != 0;
}
