/* The program of the paper's section 4, on a grid of P x Q processes: a host, which is the Postmaster, outside of the
 * grid; letters between neighbours; combines of rows and columns; subgrids.
 *
 *   margay run -n 1 ./grid : -n 6 ./grid        a host and six nodes, which run one program or two */
#include <margay/zipcode.h>

#include <stdio.h>
#include <stdlib.h>

#define FALSE 0
#define TRUE ~FALSE

static void add_doubles(void* into, const void* from, int size, int items, void* state) {
  int i;
  (void)size;
  (void)state;
  for (i = 0; i < items; ++i) ((double*)into)[i] += ((const double*)from)[i];
}

/* The host: it makes the nodes' group, starts their program, and opens the grid. */
static ZIP_MAILER* open_as_host(int P, int Q) {
  int N = P * Q, try_pid = 33;
  ZIP_ADDRESSEES* addressees = zip_new_cohort(N, COHORT_FIRST_NODE, try_pid, TRUE);
  int result = zip_spawn("./testprog", addressees); /* a null operation where the launcher starts the nodes */
  ZIP_MAILER* mailer;
  if (result != 0) exit(1);
  mailer = g2_grid_open(&P, &Q, addressees);
  zip_free_addressees(&addressees);
  return mailer;
}

static int by_row(int p, int q, void* extra) {
  (void)q;
  (void)extra;
  return p;
}

static void be_host(int nodes) {
  int P = nodes % 2 == 0 ? 2 : 1, Q = nodes / P, p, q, i, nsubgrids;
  ZIP_MAILER* mailer = open_as_host(P, Q);
  ZIP_MAILER** subgrids;
  /* It is outside of the grid, but reaches its members. */
  for (p = 0; p < P; ++p) {
    for (q = 0; q < Q; ++q) {
      char* letter = g2_new_letter(mailer, (int)sizeof(double));
      *(double*)letter = 1.0 + p;
      g2_send(mailer, letter, p, q);
    }
  }
  for (p = 0; p < P; ++p) {
    for (q = 0; q < Q; ++q) {
      char* letter = g2_recvb(mailer, p, q);
      printf("(%d, %d) of a grid of %d x %d: %s\n", p, q, P, Q, letter);
      g2_free_letter(mailer, letter);
    }
  }
  subgrids = g2_subgrid_open(mailer, by_row, NULL, &nsubgrids);
  printf("%d subgrids of 1 x %d\n", nsubgrids, Q);
  for (i = 0; i < nsubgrids; ++i) zip_close(&subgrids[i]);
  free(subgrids);
  zip_close(&mailer);
}

static void be_node(Method* add) {
  int P, Q, p, q, subP, subQ;
  ZIP_MAILER *mailer = g2_grid_open(&P, &Q, NULL), *subgrid;
  char *letter, *answer;
  double of_row, of_column, left;
  g2_PQ(mailer, P, Q);
  g2_pq(mailer, p, q);
  letter = g2_recvb(mailer, ZIP_POSTMASTER, ZIP_POSTMASTER);
  of_row = of_column = *(double*)letter;
  /* The letter goes on to the right neighbour: its memory moves. */
  g2_send(mailer, letter, p, (q + 1) % Q);
  letter = g2_recvb(mailer, p, (q + Q - 1) % Q);
  left = *(double*)letter;
  g2_free_letter(mailer, letter);
  g2_row_combine(mailer, &of_row, add, (int)sizeof of_row, 1);
  g2_col_combine(mailer, &of_column, add, (int)sizeof of_column, 1);
  answer = g2_new_letter(mailer, 120);
  snprintf(answer, 120, "from the left %g, sum of the row %g, of the column %g", left, of_row, of_column);
  g2_send(mailer, answer, ZIP_POSTMASTER, ZIP_POSTMASTER);
  subgrid = g2_grid_open(&subP, &subQ, NULL);
  zip_close(&subgrid);
  zip_close(&mailer);
}

int main(void) {
  Method* add;
  if (Zip_init() != 0) return 1;
  add = zip_new_method(add_doubles, NULL);
  if (zip_my_node() == ZIP_HOST_NODE)
    be_host(zip_nodes());
  else
    be_node(add);
  zip_free_method(&add);
  zip_exit();
  return 0;
}
