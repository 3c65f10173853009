/* A host program (paper 000, 4.1 and 4.2): it starts its nodes by zip_spawn(), opens a mailer over them as Postmaster,
 * deals out the parts of an integral, adds up the results, and ends with its nodes.
 *
 *   margay run -n 1 ./host ./node [nodes [parts]] */
#include <margay/zipcode.h>

#include <stdio.h>
#include <stdlib.h>

#define FALSE 0
#define TRUE ~FALSE

/* A part of the work: the sum of the midpoints first, first + 1, ... below last of `all`. A part without points ends a
 * node's work. */
typedef struct Part {
  int first, last, all;
} Part;

static void send_part(ZIP_MAILER* mailer, int node, Part part) {
  char* letter = z_new_letter(mailer, (int)sizeof part);
  *(Part*)letter = part;
  z_send(mailer, letter, node);
}

int main(int argc, char** argv) {
  const int nodes = argc > 2 ? atoi(argv[2]) : 4, parts = argc > 3 ? atoi(argv[3]) : 10;
  const int points = 1000;
  ZIP_ADDRESSEES* addressees;
  ZIP_MAILER* mailer;
  double pi = 0;
  int dealt = 0, node, part;

  if (argc < 2 || nodes < 1 || parts < nodes) {
    fprintf(stderr, "usage: margay run -n 1 %s NODE_PROGRAM [NODES [PARTS]], with PARTS at least NODES\n", argv[0]);
    return 1;
  }
  if (Zip_init() != 0) return 1;
  addressees = zip_new_cohort(nodes, COHORT_FIRST_NODE, 33, TRUE);
  if (zip_spawn(argv[1], addressees) != 0) return 1;
  mailer = z_open(addressees); /* the nodes call z_open(NULL) */

  /* Each node gets a part, and a further one for each result, whichever node it is from. */
  for (node = 1; node <= nodes; ++node, ++dealt) {
    const Part first = {dealt * points / parts, (dealt + 1) * points / parts, points};
    send_part(mailer, node, first);
  }
  for (part = 0, node = 1; part < parts; node = node % nodes + 1) {
    char* result = z_recv(mailer, node);
    if (result == NULL) continue;
    pi += *(double*)result;
    z_free_letter(mailer, result);
    ++part;
    if (dealt < parts) {
      const Part next = {dealt * points / parts, (dealt + 1) * points / parts, points};
      send_part(mailer, node, next);
      ++dealt;
    }
  }
  for (node = 1; node <= nodes; ++node) {
    const Part none = {0, 0, points};
    send_part(mailer, node, none);
  }
  printf("%d nodes, %d parts: pi is %.6f\n", nodes, parts, pi);
  zip_close(&mailer);
  zip_free_addressees(&addressees);
  zip_exit();
  return 0;
}
