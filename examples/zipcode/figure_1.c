/* Figure 1 of the paper: the envelope of a letter of each class, field by field, as bytes in memory.
 *
 *   margay run -n 1 ./figure_1 */
#include <margay/zipcode.h>

#include <stdio.h>
#include <string.h>

static void print_bytes(const char* field, const unsigned char* bytes, int count, const char* meaning) {
  int i;
  printf("  %-18s", field);
  for (i = 0; i < count; ++i) printf("%02x ", bytes[i]);
  if (count == 0) printf("- ");
  printf(" %s\n", meaning);
}

/* Sends a letter to this process itself, so that the PO Box is filled in, and prints its envelope. */
static void print_letter(ZIP_MAILER* mailer, const char* title, char* letter) {
  Zip_envelope envelope;
  const unsigned char* at;
  char text[80];
  if (zip_envelope(mailer, letter, &envelope) != 0) return;
  at = envelope.beginning;
  printf("class %s: an envelope of %d bytes, a body of %d\n", title, envelope.stamp, zip_length(mailer, letter));
  snprintf(text, sizeof text, "the context_id %d", envelope.zipcode);
  print_bytes("zipcode", at, 2, text);
  snprintf(text, sizeof text, "class %d", envelope.mail_class);
  print_bytes("class", at + 2, 2, text);
  snprintf(text, sizeof text, "the body begins at byte %d", envelope.stamp);
  print_bytes("stamp", at + 4, 2, text);
  print_bytes("PO Box", envelope.po_box, envelope.box_bytes, "");
  print_bytes("padding", envelope.po_box + envelope.box_bytes, envelope.padding_bytes, "");
  print_bytes("return postage", (const unsigned char*)letter - 2, 2, "leads from the body back to the envelope");
  print_bytes("body", (const unsigned char*)letter, zip_length(mailer, letter), "");
  zip_free(mailer, letter);
}

static char* filled(ZIP_MAILER* mailer) {
  char* letter = zip_malloc(mailer, 4);
  memcpy(letter, "mail", 4);
  return letter;
}

int main(void) {
  ZIP_ADDRESSEES* alone;
  ZIP_MAILER* mailer;
  int P = 1, Q = 1, R = 1;
  if (Zip_nohost_init() != 0) return 1;
  alone = zip_new_cohort(1, COHORT_FIRST_NODE, 33, 0);

  mailer = y_open(alone);
  y_send(mailer, filled(mailer), 0, 33, 258);
  print_letter(mailer, "Y (tag 258)", y_recvb(mailer, 258));
  zip_close(&mailer);

  mailer = z_open(alone);
  z_send(mailer, filled(mailer), 0);
  print_letter(mailer, "Z (from rank 0)", z_recvb(mailer, 0));
  zip_close(&mailer);

  mailer = l_open(alone);
  l_send(mailer, filled(mailer), 0, 33, 65537);
  print_letter(mailer, "L (from {0, 33}, tag 65537)", l_recvb(mailer, 0, 33, 65537));
  zip_close(&mailer);

  mailer = g1_grid_open(&P, alone);
  g1_send(mailer, filled(mailer), 0);
  print_letter(mailer, "G1 (from 0)", g1_recvb(mailer, 0));
  zip_close(&mailer);

  mailer = g2_grid_open(&P, &Q, alone);
  g2_send(mailer, filled(mailer), 0, 0);
  print_letter(mailer, "G2 (from (0, 0))", g2_recvb(mailer, 0, 0));
  zip_close(&mailer);

  mailer = g3_grid_open(&P, &Q, &R, alone);
  g3_send(mailer, filled(mailer), 0, 0, 0);
  print_letter(mailer, "G3 (from (0, 0, 0))", g3_recvb(mailer, 0, 0, 0));
  zip_close(&mailer);

  zip_free_addressees(&alone);
  zip_exit();
  return 0;
}
