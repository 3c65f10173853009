/* The node program of host.c, which zip_spawn() starts: it computes the parts that the host deals out. */
#include <margay/zipcode.h>

typedef struct Part {
  int first, last, all;
} Part;

int main(void) {
  ZIP_MAILER* mailer;
  int works = 1;

  if (Zip_init() != 0) return 1;
  mailer = z_open(0); /* the host is rank 0, and passes the group */
  while (works) {
    char* letter = z_recvb(mailer, 0);
    const Part part = *(Part*)letter;
    double sum = 0;
    int i;
    z_free_letter(mailer, letter);
    works = part.last > part.first;
    if (!works) break;
    for (i = part.first; i < part.last; ++i) {
      const double x = (i + 0.5) / part.all;
      sum += 4 / (1 + x * x) / part.all;
    }
    letter = z_new_letter(mailer, (int)sizeof sum);
    *(double*)letter = sum;
    z_send(mailer, letter, 0);
  }
  zip_close(&mailer);
  zip_exit();
  return 0;
}
