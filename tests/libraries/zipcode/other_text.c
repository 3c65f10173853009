/* Another program text for a job of two: it takes part in the case `ring` of zipcode_mailing. */
#include "cases.h"

int main(void) {
  ZIP_MAILER* mailer;
  char *letter, *longer;
  int rank, size, length;
  NEED(Zip_nohost_init() == 0);
  mailer = z_open(NULL);
  rank = zip_rank(mailer);
  size = zip_size(mailer);
  NEED(rank > 0 && size > rank);
  letter = z_recvb(mailer, rank - 1);
  length = zip_length(mailer, letter);
  NEED(length == rank - 1);
  longer = z_new_letter(mailer, length + 1);
  memcpy(longer, letter, (size_t)length);
  longer[length] = (char)rank;
  z_free_letter(mailer, letter);
  z_send(mailer, longer, (rank + 1) % size);
  NEED(zip_sync(mailer) == 0);
  zip_close(&mailer);
  zip_exit();
  return failures != 0;
}
