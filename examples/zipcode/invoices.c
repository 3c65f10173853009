/* One record, sent many times in three ways, for the copies of its bytes:
 *
 *   invoices pack_send       the wire gathers the record from its variables: g1_pack_send()
 *   invoices pack_then_send  an invoice is packed into a letter, which is sent: zip_pack(), g1_send()
 *   invoices by_hand         the program copies the variables into a letter itself: memcpy(), g1_send()
 *
 * The even processes send to the odd ones behind them. copies.py runs all three ways with a trace, and prints a table.
 */
#include <margay/zipcode.h>
#include <stdio.h>
#include <string.h>

#define MESSAGES 100
#define ROWS 120
#define COLUMNS 3

struct record {
  int step;
  double column[ROWS][COLUMNS]; /* of which one column is sent */
  char name[20];
};
#define PACKED (8 + 8 * ROWS + 20)

/* Fills a letter by hand; returns the bytes that it has copied. */
static long copy_by_hand(char* letter, const struct record* record) {
  char* to = letter;
  int i;
  memcpy(to, &record->step, sizeof record->step);
  for (to += 8, i = 0; i < ROWS; ++i, to += sizeof(double)) memcpy(to, &record->column[i][1], sizeof(double));
  memcpy(to, record->name, sizeof record->name);
  return (long)sizeof record->step + 8L * ROWS + (long)sizeof record->name;
}

static void send_all(ZIP_MAILER* mailer, const char* way, struct record* record, Zip_Invoice* invoice, int to) {
  long copied = 0;
  for (record->step = 0; record->step < MESSAGES; ++record->step) {
    char* letter = NULL;
    if (strcmp(way, "pack_send") == 0) {
      g1_pack_send(mailer, to, invoice);
      continue;
    }
    if (strcmp(way, "pack_then_send") == 0) {
      zip_pack(mailer, invoice, ZIP_LETTER, &letter, ZIP_IGNORE);
    } else {
      letter = g1_new_letter(mailer, PACKED);
      memset(letter + 4, 0, 4);
      copied += copy_by_hand(letter, record);
    }
    g1_send(mailer, letter, to);
  }
  printf("%s: %d records of %d bytes, %ld bytes copied by the program\n", way, MESSAGES, PACKED, copied);
}

static int receive_all(ZIP_MAILER* mailer, struct record* record, Zip_Invoice* invoice, int from) {
  int i, k, right = 0;
  for (k = 0; k < MESSAGES; ++k) {
    char* letter = g1_recvb(mailer, from);
    memset(record, 0, sizeof *record);
    zip_unpack(mailer, invoice, ZIP_LETTER, letter);
    g1_free_letter(mailer, letter);
    for (i = 0; i < ROWS && record->column[i][1] == i; ++i) continue;
    right += i == ROWS && record->step == k && strcmp(record->name, "one column") == 0;
  }
  return right == MESSAGES;
}

int main(int argc, char** argv) {
  static struct record record = {0, {{0}}, "one column"};
  ZIP_ADDRESSEES* all = NULL;
  ZIP_MAILER* mailer;
  Zip_Invoice* invoice;
  int size, me, i, is_right = 1;
  Zip_nohost_init();
  size = zip_nodes();
  if (argc != 2 || size % 2 != 0) {
    if (zip_my_node() == 0)
      fprintf(stderr, "usage: invoices pack_send|pack_then_send|by_hand, on an even number of processes\n");
    zip_exit();
    return 2;
  }
  if (zip_my_node() == 0) all = zip_new_cohort(size - 1, COHORT_FIRST_NODE, 0, 1);
  mailer = g1_grid_open(&size, all);
  g1_p(mailer, me);
  zip_new_invoice(&invoice, "%i%*.*d%20c", &record.step, ROWS, COLUMNS, &record.column[0][1], record.name);
  if (me % 2 == 0) {
    for (i = 0; i < ROWS; ++i) record.column[i][1] = i;
    send_all(mailer, argv[1], &record, invoice, me + 1);
  } else {
    is_right = receive_all(mailer, &record, invoice, me - 1);
    if (!is_right) fprintf(stderr, "invoices: process %d received a wrong record\n", me);
  }
  zip_free_invoice(&invoice);
  if (all != NULL) zip_free_addressees(&all);
  zip_close(&mailer);
  zip_exit();
  return !is_right;
}
