/* The calls as the paper prints them in section 4, in both spellings, in the C of its time: zipcode_printed. A process
 * that runs it has the one place of each grid. */
#include <margay/zipcode.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FALSE 0
#define TRUE ~FALSE

typedef int Extra;
struct matrix {
  int value;
};

static int failures = 0;
static void need(int holds, int line) {
  if (holds) return;
  printf("line %d\n", line);
  ++failures;
}
#define NEED(condition) need(!!(condition), __LINE__)

static long matrix_copy(void* item, void* space, void* extra, void* state) {
  (void)extra, (void)state;
  if (item != NULL && space != NULL) memcpy(space, &((struct matrix*)item)->value, sizeof(int));
  return (long)sizeof(int);
}
static long matrix_back(void* item, void* space, void* extra, void* state) {
  (void)extra, (void)state;
  memcpy(&((struct matrix*)item)->value, space, sizeof(int));
  return (long)sizeof(int);
}
static long no_bytes(void* item, void* space, void* extra, void* state) {
  (void)item, (void)space, (void)extra, (void)state;
  return 0;
}

/* Each form of initialisation, in both spellings; the session ends in both. */
static void begin_and_end(void) {
  int error = Zip_init();
  NEED(error == 0);
  zip_exit();
  NEED(Zip_global_init() == 0);
  Zip_exit();
  NEED(zip_init() == 0);
  zip_exit();
  NEED(zip_global_init() == 0);
  zip_exit();
  NEED(Zip_nohost_global_init() == 0);
  zip_exit();
  NEED(zip_nohost_init() == 0);
  zip_exit();
  NEED(zip_nohost_global_init() == 0);
  zip_exit();
}

static void letters(ZIP_MAILER* g1_mailer, ZIP_MAILER* g2_mailer, ZIP_MAILER* g3_mailer) {
  int p, q, r;
  char* letter;
  g1_p(g1_mailer, p);
  letter = g1_new_letter(g1_mailer, 5);
  g1_send(g1_mailer, letter, p);
  letter = g1_recvb(g1_mailer, p);
  g1_free_letter(g1_mailer, letter);
  NEED((letter = g1_recv(g1_mailer, p)) == NULL);
  g2_pq(g2_mailer, p, q);
  letter = g2_new_letter(g2_mailer, 5);
  g2_send(g2_mailer, letter, p, q);
  letter = g2_recvb(g2_mailer, p, q);
  g2_free_letter(g2_mailer, letter);
  NEED((letter = g2_recv(g2_mailer, p, q)) == NULL);
  g3_pqr(g3_mailer, p, q, r);
  letter = g3_new_letter(g3_mailer, 5);
  g3_send(g3_mailer, letter, p, q, r);
  letter = g3_recvb(g3_mailer, p, q, r);
  NEED(zip_length(g3_mailer, letter) == 5 && Zip_length(g3_mailer, letter) == 5);
  g3_free_letter(g3_mailer, letter);
  NEED((letter = g3_recv(g3_mailer, p, q, r)) == NULL);
  letter = zip_malloc(g2_mailer, 5);
  zip_free(g2_mailer, letter);
  letter = Zip_malloc(g2_mailer, 5);
  Zip_free(g2_mailer, letter);
}

ZIP_COMBINE_METHOD(sum, int, a, b, a + b);

static void operations(ZIP_MAILER* g2_mailer, ZIP_MAILER* g3_mailer) {
  Method* comb_method = sum;
  int buffer = 7, length = (int)sizeof buffer, size = (int)sizeof buffer, items = 1, nitems = 1;
  int orig_p = 0, orig_q = 0, dest_p = 0, dest_q = 0;
  void* data = &buffer;
  NEED(g2_combine(g2_mailer, &buffer, comb_method, size, items) == 0);
  NEED(g3_combine(g3_mailer, &buffer, comb_method, size, items) == 0);
  NEED(g2_fanout(g2_mailer, &data, &length, orig_p, orig_q) == 0);
  NEED(g2_fanin(g2_mailer, dest_p, dest_q, &buffer, comb_method, size, nitems) == 0);
  NEED(g2_row_combine(g2_mailer, &buffer, comb_method, size, items) == 0);
  NEED(g2_col_combine(g2_mailer, &buffer, comb_method, size, items) == 0);
  NEED(g2_row_fanout(g2_mailer, &data, &length, orig_q) == 0);
  NEED(g2_col_fanout(g2_mailer, &data, &length, orig_p) == 0);
  NEED(g2_row_fanin(g2_mailer, dest_q, &buffer, comb_method, size, items) == 0);
  NEED(g2_col_fanin(g2_mailer, dest_p, &buffer, comb_method, size, items) == 0);
  NEED(g2_fanin(PQ_plane(g3_mailer), dest_p, dest_q, &buffer, comb_method, size, items) == 0);
  NEED(buffer == 7);
}

static void invoices(ZIP_MAILER* mailer) {
  static double double_array[40];
  int i = 5, len = 2, stride = 3, length, p = 0, q = 0, r = 0;
  struct matrix M;
  Extra extra = 1;
  Zip_Invoice* invoice;
  char* letter;
  Method* in = zip_new_conversion_method(matrix_back, NULL);
  Method* out = zip_new_conversion_method(matrix_copy, NULL);
  Method* align = zip_new_conversion_method(no_bytes, NULL);
  NEED(zip_new_invoice(&invoice, "%i%10.2d", &i, double_array) == 0);
  letter = zip_malloc(mailer, zip_sizeof_invoice(mailer, invoice));
  length = zip_pack(mailer, invoice, ZIP_LETTER, &letter, ZIP_IGNORE);
  NEED(length == 88 && Zip_unpack(mailer, invoice, ZIP_LETTER, letter) == 88);
  NEED(Zip_pack(mailer, invoice, ZIP_LETTER, &letter, ZIP_IGNORE) == 88 && Zip_sizeof_invoice(mailer, invoice) == 88);
  zip_free(mailer, letter);
  zip_free_invoice(&invoice);
  NEED(invoice == NULL);
  NEED(Zip_new_invoice(&invoice, "%i%&.&d", &i, &len, &stride, double_array) == 0);
  Zip_free_invoice(&invoice);
  NEED(Zip_register_invoice_type("matrix", in, out, out, align) == 0);
  M.value = 3;
  NEED(zip_new_invoice(&invoice, "%i%matrix(*)%20d", &i, &M, &extra, double_array) == 0);
  NEED(g3_pack_send(mailer, p, q, r, invoice) == 0);
  letter = g3_recvb(mailer, p, q, r);
  M.value = 0;
  NEED(zip_unpack(mailer, invoice, ZIP_LETTER, letter) == 168 && M.value == 3);
  zip_free(mailer, letter);
  zip_free_invoice(&invoice);
  NEED(Zip_unregister_invoice_type("matrix") == 0);
  NEED(zip_new_invoice(&invoice, "%i", &i) == 0);
  NEED(g3_pack_combine(mailer, invoice, ZIP_LAND) == 0 && i == 5);
  zip_free_invoice(&invoice);
  zip_free_method(&in);
  zip_free_method(&out);
  zip_free_method(&align);
}

static int all_in_one(int p, int q, int r, void* extra) {
  return p + q + r + *(Extra*)extra;
}

int main(void) {
  int N = 0, try_pid = 33, P = 1, Q = 1, R = 1, nsubgrids = 0, result;
  ZIP_ADDRESSEES* addressees;
  ZIP_MAILER *g1_mailer, *g2_mailer, *g3_mailer, **subgrids;
  Extra extra = 0;
  begin_and_end();
  NEED(Zip_nohost_init() == 0);
  addressees = zip_new_cohort(N, COHORT_FIRST_NODE, try_pid, TRUE);
  result = zip_spawn("./testprog", addressees);
  NEED(result == 0 && Zip_spawn("./testprog", addressees) == 0);
  NEED(zip_kill(addressees) == 0 && Zip_kill(addressees) == 0);
  g3_mailer = g3_grid_open(&P, &Q, &R, addressees);
  g2_mailer = g2_grid_open(&P, &Q, addressees);
  g1_mailer = g1_grid_open(&P, addressees);
  g1_P(g1_mailer, P);
  g2_PQ(g2_mailer, P, Q);
  g3_PQR(g3_mailer, P, Q, R);
  NEED(P == 1 && Q == 1 && R == 1);
  NEED(g3_PQ_plane(g3_mailer) != NULL && g3_QR_plane(g3_mailer) != NULL && g3_PR_plane(g3_mailer) != NULL);
  NEED(g2_row(g2_mailer) != NULL && g2_col(g2_mailer) != NULL);
  letters(g1_mailer, g2_mailer, g3_mailer);
  operations(g2_mailer, g3_mailer);
  invoices(g3_mailer);
  subgrids = g3_subgrid_open(g3_mailer, all_in_one, &extra, &nsubgrids);
  NEED(subgrids != NULL && nsubgrids == 1);
  free(subgrids);
  zip_free_addressees(&addressees);
  zip_exit();
  if (failures == 0) printf("printed: right\n");
  return failures != 0;
}
