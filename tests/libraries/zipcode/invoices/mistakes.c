/* Wrong arguments of the functions on invoices: zipcode_mistakes CASE... */
#include "../cases.h"

static char last_error[1000];

static void keep_error(const char* message) {
  snprintf(last_error, sizeof last_error, "%s", message);
}

/* Whether the last call was an error with this text in it. */
static int said(const char* text) {
  const int is_there = strstr(last_error, text) != NULL;
  if (!is_there) printf("node %d: expected \"%s\" in \"%s\"\n", zip_my_node(), text, last_error);
  last_error[0] = '\0';
  return is_there;
}

static void errors_of_invoices(ZIP_MAILER* mailer) {
  Zip_Invoice* invoice = (Zip_Invoice*)&invoice;
  double d = 0;
  int i = 0;
  NEED(zip_new_invoice(&invoice, "%i%&.d", &i, &i, &i, &d) == -1 && invoice == NULL);
  NEED(
      said("zip_new_invoice: invalid format: expected a stride after '.' (a positive integer, '*' or '&') and not 'd'\n"
           "  %i%&.d\n"
           "       ^"));
  NEED(zip_new_invoice(&invoice, "%double", &d) == -1 && said("the type 'double' is not registered; 'd' is a double"));
  NEED(zip_new_invoice(NULL, "%d", &d) == -1 && said("the address of the invoice is NULL"));
  NEED(zip_new_invoice(&invoice, "%*d", -3, &d) == -1 && said("the count is -3"));
  NEED(zip_add_item(NULL, NULL) == -1 && said("zip_add_item: the invoice is NULL"));
  NEED(zip_sizeof_invoice(mailer, NULL) == -1 && said("zip_sizeof_invoice: the invoice is NULL"));
  zip_free_invoice(&invoice);
  NEED(said("zip_free_invoice: the invoice is NULL"));
  NEED(zip_new_invoice(&invoice, "%2147483647d", &d) == 0);
  NEED(zip_sizeof_invoice(mailer, invoice) == -1 && said("the invoice has 17179869176 bytes; at most 2147483647"));
  NEED(zip_sizeof_invoice(NULL, invoice) == -1 && said("zip_sizeof_invoice: "));
  NEED(z_pack_send(mailer, 0, invoice) == -1 && said("z_pack_send: "));
  zip_free_invoice(&invoice);
  NEED(zip_register_invoice_type("d", NULL, NULL, NULL, NULL) == -1 && said("is that of a built-in type"));
  NEED(zip_register_invoice_type("matrix", ZIP_ADD, NULL, NULL, NULL) == -1 &&
       said("the in method is a typed method instead of a conversion method"));
  NEED(zip_unregister_invoice_type("matrix") == -1 && said("the type 'matrix' is not registered"));
  NEED(zip_new_method_of(ZIP_BAND, 'd') == NULL && said("a bitwise method"));
  zip_free_method(NULL);
  NEED(said("zip_free_method: "));
}

static void errors_of_packing(ZIP_MAILER* mailer) {
  Zip_Invoice* invoice;
  double d[2] = {1, 2};
  char space[15], *buffer = space, *letter = z_new_letter(mailer, 15), *none = NULL;
  int me = zip_rank(mailer);
  NEED(zip_new_invoice(&invoice, "%2d", d) == 0);
  memset(space, 7, sizeof space);
  NEED(zip_pack(mailer, invoice, ZIP_BUFFER, &buffer, 15) == -1 &&
       said("zip_pack: the invoice needs 16 bytes, but the space has 15"));
  NEED(space[0] == 7);
  NEED(zip_pack(mailer, invoice, ZIP_LETTER, &letter, ZIP_IGNORE) == -1 && said("the space has 15"));
  NEED(zip_pack(mailer, invoice, ZIP_LETTER, &letter, 16) == -1 && said("pass ZIP_IGNORE"));
  NEED(zip_pack(mailer, invoice, ZIP_LETTER, &buffer, ZIP_IGNORE) == -1 && said("zip_pack: "));
  NEED(zip_pack(mailer, invoice, ZIP_BUFFER, &none, 16) == -1 && said("the buffer is NULL"));
  NEED(zip_pack(mailer, invoice, ZIP_BUFFER, &buffer, ZIP_IGNORE) == -1 && said("pass its length"));
  NEED(zip_pack(mailer, invoice, 3, &buffer, 15) == -1 && said("unknown buffer type 3"));
  NEED(zip_unpack(mailer, invoice, ZIP_LETTER, letter) == -1 &&
       said("item 1 (%d): it needs 16 bytes, but the letter or buffer has only 15 left"));
  NEED(zip_unpack(mailer, invoice, ZIP_LETTER, NULL) == -1 && said("the letter or buffer is NULL"));
  NEED(zip_unpack_buffer(mailer, invoice, space, 15) == -1 && said("only 15 left"));
  NEED(zip_unpack(mailer, NULL, ZIP_LETTER, letter) == -1 && said("the invoice is NULL"));
  z_free_letter(mailer, letter);
  NEED(z_pack_send(mailer, zip_size(mailer), invoice) == -1 && said("z_pack_send: the mailer has no rank"));
  NEED(g1_pack_send(mailer, me, invoice) == -1 && said("g1_pack_send: "));
  NEED(g1_pack_combine(mailer, invoice, ZIP_ADD) == -1 && said("g1_pack_combine: "));
  NEED(zip_set_conversion(mailer, 2) == -1 && said("unknown conversion 2"));
  zip_free_invoice(&invoice);
}

static void errors(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER* mailer = z_open(all);
  int N = zip_nodes();
  ZIP_MAILER* grid = g1_grid_open(&N, all);
  double d = 0;
  Zip_Invoice* invoice;
  zip_set_error_handler(keep_error);
  errors_of_invoices(mailer);
  errors_of_packing(mailer);
  NEED(zip_new_invoice(&invoice, "%d", &d) == 0);
  NEED(g1_pack_combine(grid, invoice, ZIP_BOR) == -1 && said("%d: a bitwise method cannot combine floating-point"));
  NEED(g1_pack_combine(grid, invoice, NULL) == -1 && said("the combine method is NULL"));
  NEED(g1_pack_combine(grid, invoice, ZIP_ADD) == 0);
  zip_free_invoice(&invoice);
  zip_set_error_handler(NULL);
  zip_close(&grid);
  zip_close(&mailer);
  if (all != NULL) zip_free_addressees(&all);
}

/* With the default error handler. */
static void wrong_format(void) {
  Zip_Invoice* invoice;
  int i = 0;
  zip_new_invoice(&invoice, "%i%10.", &i, &i);
  printf("the job goes on\n");
}

/* Invoices of different sizes in one combine, with the default error handler. */
static void mismatch(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  int N = zip_nodes(), n = 1 + zip_my_node();
  ZIP_MAILER* grid = g1_grid_open(&N, all);
  double d[8] = {0};
  Zip_Invoice* invoice;
  zip_new_invoice(&invoice, "%&d", &n, d);
  g1_pack_combine(grid, invoice, ZIP_ADD);
  zip_sync(grid);
  printf("the job goes on\n");
}

static const Case cases[] = {{"errors", errors}, {"wrong_format", wrong_format}, {"mismatch", mismatch}};

int main(int argc, char** argv) {
  return run_program(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
