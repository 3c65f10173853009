/* Invoices of Zipcode in letters, buffers and collective operations: zipcode_invoices CASE... */
#include <stdint.h>

#include "../cases.h"

/* Two factors of the number of processes, the first one at most the second. */
static void factors(int* P, int* Q) {
  for (*P = 1, *Q = zip_nodes(); *P * *P <= zip_nodes(); ++*P)
    if (zip_nodes() % *P == 0) *Q = zip_nodes() / *P;
  *P = zip_nodes() / *Q;
}

/* --- The paper's examples 1 to 3 --- */

struct matrix {
  int rows, columns;
  double elements[12];
};
/* Example 3's extra pointer: the factor by which a packed matrix is multiplied. */
typedef struct Extra {
  double factor;
} Extra;

static long matrix_len(void* item, void* space, void* extra, void* state) {
  const struct matrix* m = item;
  int head[2];
  (void)extra;
  (void)state;
  if (space != NULL && zip_method_space() < (long)sizeof head) return -1;
  if (space != NULL) memcpy(head, space, sizeof head);
  return 8 + 8 * (space != NULL ? head[0] * head[1] : m->rows * m->columns);
}
static long matrix_out(void* item, void* space, void* extra, void* state) {
  const struct matrix* m = item;
  double* to = (double*)((char*)space + 8);
  int k;
  (void)state;
  NEED(zip_my_node() >= 0); /* a method may call Zipcode */
  memcpy(space, item, 8);
  for (k = 0; k < m->rows * m->columns; ++k) to[k] = m->elements[k] * ((Extra*)extra)->factor;
  return 8 + 8 * k;
}
static long matrix_in(void* item, void* space, void* extra, void* state) {
  struct matrix* m = item;
  const double* from = (const double*)((char*)space + 8);
  int head[2], k;
  (void)extra;
  ++*(int*)state;
  if (zip_method_space() < 8) return -1;
  memcpy(head, space, 8);
  if (head[0] < 0 || head[1] < 0 || head[0] * head[1] > 12 || zip_method_space() < 8 + 8 * head[0] * head[1]) return -2;
  memcpy(m, head, 8);
  for (k = 0; k < head[0] * head[1]; ++k) m->elements[k] = from[k];
  return 8 + 8 * k;
}
static long matrix_align(void* item, void* space, void* extra, void* state) {
  (void)item;
  (void)extra;
  (void)state;
  return (long)(-(uintptr_t)space & 7);
}

static void example_1_and_2(ZIP_MAILER* mailer, int to, int from) {
  Zip_Invoice *invoice, *incoming;
  char* letter;
  int i = 20, length, k, len = 10, stride = 2;
  double double_array[20], received[20];
  for (k = 0; k < 20; ++k) double_array[k] = 100.0 * zip_rank(mailer) + k;
  NEED(zip_new_invoice(&invoice, "%i%10.2d", &i, double_array) == 0);
  letter = zip_malloc(mailer, zip_sizeof_invoice(mailer, invoice));
  length = zip_pack(mailer, invoice, ZIP_LETTER, &letter, ZIP_IGNORE);
  NEED(length == 88 && zip_length(mailer, letter) == 88);
  z_send(mailer, letter, to);
  zip_free_invoice(&invoice);
  NEED(invoice == NULL);

  NEED(zip_new_invoice(&invoice, "%i%&.&d", &i, &len, &stride, double_array) == 0);
  letter = NULL;
  NEED(zip_pack(mailer, invoice, ZIP_LETTER, &letter, ZIP_IGNORE) == 88);
  z_send(mailer, letter, to);
  len = 5;
  stride = 1;
  letter = zip_malloc(mailer, zip_sizeof_invoice(mailer, invoice));
  NEED(zip_pack(mailer, invoice, ZIP_LETTER, &letter, ZIP_IGNORE) == 48);
  z_send(mailer, letter, to);
  zip_free_invoice(&invoice);

  len = 10;
  NEED(zip_new_invoice(&incoming, "%i%&d", &i, &len, received) == 0);
  for (k = 0; k < 3; ++k) {
    int j;
    letter = z_recvb(mailer, from);
    len = (zip_length(mailer, letter) - 8) / 8;
    NEED(len == (k < 2 ? 10 : 5));
    i = 0;
    NEED(zip_unpack(mailer, incoming, ZIP_LETTER, letter) == zip_length(mailer, letter));
    NEED(i == 20);
    for (j = 0; j < len; ++j) NEED(received[j] == 100.0 * from + (k < 2 ? 2 * j : j));
    z_free_letter(mailer, letter);
  }
  zip_free_invoice(&incoming);
}

static void example_3(ZIP_MAILER* mailer, int to, int from) {
  int unpacked = 0, i = 5, j = 0, k;
  Method *in = zip_new_method(matrix_in, &unpacked), *out = zip_new_method(matrix_out, NULL);
  Method *length = zip_new_method(matrix_len, NULL), *align = zip_new_method(matrix_align, NULL);
  struct matrix M = {3, 2, {1, 2, 3, 4, 5, 6}}, N = {0, 0, {0}};
  Extra extra = {10};
  double double_array[20], received[20];
  Zip_Invoice *invoice, *incoming;
  char* letter;
  for (k = 0; k < 20; ++k) double_array[k] = k;
  NEED(zip_register_invoice_type("matrix", in, out, length, align) == 0);
  NEED(zip_new_invoice(&invoice, "%i%matrix(*)%20d", &i, &M, &extra, double_array) == 0);
  NEED(zip_new_invoice(&incoming, "%i%matrix%20d", &j, &N, received) == 0);
  NEED(zip_sizeof_invoice(mailer, invoice) == 8 + 8 + 6 * 8 + 160);
  NEED(z_pack_send(mailer, to, invoice) == 0);
  letter = z_recvb(mailer, from);
  NEED(zip_unpack(mailer, incoming, ZIP_LETTER, letter) == 224);
  z_free_letter(mailer, letter);
  NEED(j == 5 && N.rows == 3 && N.columns == 2 && unpacked == 1);
  for (k = 0; k < 6; ++k) NEED(N.elements[k] == 10.0 * (k + 1));
  for (k = 0; k < 20; ++k) NEED(received[k] == k);
  zip_free_invoice(&invoice);
  zip_free_invoice(&incoming);
  NEED(zip_unregister_invoice_type("matrix") == 0);
  zip_free_method(&in);
  zip_free_method(&out);
  zip_free_method(&length);
  zip_free_method(&align);
  NEED(align == NULL);
}

static void paper(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER* mailer = z_open(all);
  const int size = zip_size(mailer), to = (zip_rank(mailer) + 1) % size, from = (zip_rank(mailer) + size - 1) % size;
  example_1_and_2(mailer, to, from);
  example_3(mailer, to, from);
  if (all != NULL) zip_free_addressees(&all);
  zip_close(&mailer);
}

/* --- Packed sends in all classes, representations and lengths --- */

#define MOST 40000

struct record {
  int count;
  short s[4];
  char text[7];
  long l;
  float f;
  double values[MOST];
};

static Zip_Invoice* invoice_of(struct record* r) {
  Zip_Invoice* invoice = NULL;
  NEED(zip_new_invoice(&invoice, "%i%2.3s%7c%l%f", &r->count, r->s, r->text, &r->l, &r->f) == 0);
  NEED(zip_add_item(invoice, &(Zip_Item){.type = "d", .data = r->values, .count_at = &r->count, .count_most = MOST}) ==
       0);
  return invoice;
}

static void fill(struct record* r, int count, int salt) {
  int k;
  memset(r, 0, sizeof *r);
  r->count = count;
  r->s[0] = (short)(salt - 300);
  r->s[3] = (short)(salt + 300);
  snprintf(r->text, sizeof r->text, "r%d", salt);
  r->l = -1234567890123L * salt;
  r->f = 0.5F * (float)salt;
  for (k = 0; k < count; ++k) r->values[k] = salt + 0.25 * k;
}

static int equal(const struct record* one, const struct record* other) {
  return one->count == other->count && one->s[0] == other->s[0] && one->s[3] == other->s[3] &&
         memcmp(one->text, other->text, sizeof one->text) == 0 && one->l == other->l && one->f == other->f &&
         memcmp(one->values, other->values, sizeof(double) * (size_t)one->count) == 0;
}

/* The sends and receives of one class, by rank. */
struct notation {
  ZIP_MAILER* mailer;
  int (*pack_send)(ZIP_MAILER*, int rank, Zip_Invoice*);
  char* (*receive)(ZIP_MAILER*, int rank);
};

static void place_of(ZIP_MAILER* mailer, int rank, int* p, int* q, int* r) {
  const int mail_class = zip_class(mailer);
  const int R = mail_class == ZIP_G3 ? zip_shape(mailer, ZIP_G3, 2) : 1, Q = zip_shape(mailer, mail_class, 1);
  *r = rank % R;
  *q = rank / R % Q;
  *p = rank / R / Q;
}
static int send_g2(ZIP_MAILER* mailer, int rank, Zip_Invoice* invoice) {
  int p, q, r;
  place_of(mailer, rank, &p, &q, &r);
  return g2_pack_send(mailer, p, q, invoice);
}
static char* receive_g2(ZIP_MAILER* mailer, int rank) {
  int p, q, r;
  place_of(mailer, rank, &p, &q, &r);
  return g2_recvb(mailer, p, q);
}
static int send_g3(ZIP_MAILER* mailer, int rank, Zip_Invoice* invoice) {
  int p, q, r;
  place_of(mailer, rank, &p, &q, &r);
  return g3_pack_send(mailer, p, q, r, invoice);
}
static char* receive_g3(ZIP_MAILER* mailer, int rank) {
  int p, q, r;
  place_of(mailer, rank, &p, &q, &r);
  return g3_recvb(mailer, p, q, r);
}
static int send_l(ZIP_MAILER* mailer, int rank, Zip_Invoice* invoice) {
  return l_pack_send(mailer, rank, 7, -100 - zip_rank(mailer), invoice);
}
static char* receive_l(ZIP_MAILER* mailer, int rank) {
  return l_recvb(mailer, rank, 7, -100 - rank);
}
static int send_y(ZIP_MAILER* mailer, int rank, Zip_Invoice* invoice) {
  return y_pack_send(mailer, rank, 7, zip_rank(mailer), invoice);
}
static char* receive_y(ZIP_MAILER* mailer, int rank) {
  return y_recvb(mailer, rank);
}

static struct record sent, received, expected;

/* To each process, letters of each length in a row; the variables change right after each send. */
static void exchange(const struct notation* by, int conversion) {
  static const int counts[] = {0, 1, 5, 100, 1500, 2040, 3000, MOST};
  const int size = zip_size(by->mailer), me = zip_rank(by->mailer);
  Zip_Invoice *outgoing = invoice_of(&sent), *incoming = invoice_of(&received);
  int k, peer;
  NEED(zip_set_conversion(by->mailer, conversion) == 0);
  for (k = 0; k < (int)(sizeof counts / sizeof counts[0]); ++k) {
    for (peer = 0; peer < size; ++peer) {
      fill(&sent, counts[k], 10 * me + peer);
      NEED(by->pack_send(by->mailer, peer, outgoing) == 0);
    }
  }
  fill(&sent, 0, 0);
  for (peer = 0; peer < size; ++peer) {
    for (k = 0; k < (int)(sizeof counts / sizeof counts[0]); ++k) {
      char* letter = by->receive(by->mailer, peer);
      memset(&received, 0, sizeof received);
      NEED(zip_unpack(by->mailer, incoming, ZIP_LETTER, letter) == zip_length(by->mailer, letter));
      zip_free(by->mailer, letter);
      fill(&expected, counts[k], 10 * peer + me);
      NEED(equal(&received, &expected));
    }
  }
  zip_free_invoice(&outgoing);
  zip_free_invoice(&incoming);
}

static void classes(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  int P, Q, R = 1, N = zip_nodes(), k;
  struct notation by[6];
  factors(&P, &Q);
  by[0] = (struct notation){g1_grid_open(&N, all), g1_pack_send, g1_recvb};
  by[1] = (struct notation){g2_grid_open(&P, &Q, all), send_g2, receive_g2};
  by[2] = (struct notation){g3_grid_open(&Q, &R, &P, all), send_g3, receive_g3};
  by[3] = (struct notation){z_open(all), z_pack_send, z_recvb};
  by[4] = (struct notation){l_open(all), send_l, receive_l};
  by[5] = (struct notation){y_open(all), send_y, receive_y};
  for (k = 0; k < 6; ++k) {
    exchange(&by[k], ZIP_NATIVE);
    if (k % 2 == 0) exchange(&by[k], ZIP_XDR);
  }
  for (k = 0; k < 6; ++k) NEED(zip_close(&by[k].mailer) == 0);
  if (all != NULL) zip_free_addressees(&all);
}

/* --- Combines --- */

ZIP_TYPED_METHOD(larger_magnitude, a, b, (a < 0 ? -a : a) < (b < 0 ? -b : b) ? b : a);
ZIP_COMBINE_METHOD(smaller_double, double, a, b, (a < b ? a : b));

static void combine_on(ZIP_MAILER* mailer, int (*combine)(ZIP_MAILER*, Zip_Invoice*, Method*)) {
  const int size = zip_size(mailer), me = zip_rank(mailer);
  int i = me + 1, n = 3, pair[2] = {me % 2, me};
  short s[4] = {(short)me, 77, (short)-me, 78};
  double d[3] = {me, -me, 0.5};
  Zip_Invoice *invoice, *place, *doubles;
  NEED(zip_new_invoice(&invoice, "%i%2.2s%&d%5-c", &i, s, &n, d, NULL) == 0);
  NEED(combine(mailer, invoice, ZIP_ADD) == 0);
  NEED(i == size * (size + 1) / 2);
  NEED(s[0] == size * (size - 1) / 2 && s[2] == -s[0] && s[1] == 77 && s[3] == 78);
  NEED(d[0] == s[0] && d[1] == -s[0] && d[2] == 0.5 * size);
  i = me % 2 == 0 ? me : -me - 100;
  NEED(combine(mailer, invoice, larger_magnitude) == 0);
  NEED(i == (size == 1 ? 0 : -(size - 1 - size % 2) - 100));
  NEED(zip_new_invoice(&place, "%2i", pair) == 0);
  NEED(combine(mailer, place, ZIP_MAXLOC) == 0);
  NEED(pair[0] == (size > 1) && pair[1] == (size > 1));
  d[0] = 10 - me;
  NEED(zip_new_invoice(&doubles, "%d", d) == 0);
  NEED(combine(mailer, doubles, smaller_double) == 0);
  NEED(d[0] == 10 - (size - 1));
  zip_free_invoice(&invoice);
  zip_free_invoice(&place);
  zip_free_invoice(&doubles);
}

static void combines(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  int P, Q, R = 1, N = zip_nodes(), conversion;
  ZIP_MAILER *g1, *g2, *g3;
  factors(&P, &Q);
  g1 = g1_grid_open(&N, all);
  g2 = g2_grid_open(&P, &Q, all);
  g3 = g3_grid_open(&R, &P, &Q, all);
  for (conversion = ZIP_NATIVE; conversion <= ZIP_XDR; ++conversion) {
    zip_set_conversion(g1, conversion);
    zip_set_conversion(g2, conversion);
    zip_set_conversion(g3, conversion);
    combine_on(g1, g1_pack_combine);
    combine_on(g2, g2_pack_combine);
    combine_on(g3, g3_pack_combine);
    /* A row is a G1 mailer of its own. */
    zip_set_conversion(g2_row(g2), conversion);
    combine_on(g2_row(g2), g1_pack_combine);
  }
  zip_close(&g1);
  zip_close(&g2);
  zip_close(&g3);
  if (all != NULL) zip_free_addressees(&all);
}

/* --- Buffers --- */

static void buffers(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER* mailer = z_open(all);
  int i = zip_rank(mailer) == 0 ? 42 : 0, length = 0;
  double d[4] = {0};
  char* buffer = NULL;
  char space[24];
  Zip_Invoice *invoice, *reserved;
  if (i == 42) d[0] = 1.5, d[2] = 2.5;
  NEED(zip_new_invoice(&invoice, "%i%2.2d", &i, d) == 0);
  NEED(zip_new_invoice(&reserved, "%-i%2d", NULL, d) == 0);
  if (zip_rank(mailer) == 0) {
    length = zip_pack(mailer, invoice, ZIP_BUFFER, &buffer, ZIP_IGNORE);
    NEED(length == 24);
  }
  NEED(z_fanout(mailer, (void**)&buffer, &length, 0) == 0);
  NEED(length == 24);
  NEED(zip_unpack_buffer(mailer, invoice, buffer, length) == 24);
  NEED(i == 42 && d[0] == 1.5 && d[2] == 2.5);
  d[0] = 0;
  NEED(zip_unpack(mailer, invoice, ZIP_BUFFER, buffer) == 24);
  NEED(d[0] == 1.5);
  free(buffer);
  /* Reserved space of a given buffer stays. */
  memset(space, 7, sizeof space);
  buffer = space;
  NEED(zip_pack(mailer, reserved, ZIP_BUFFER, &buffer, sizeof space) == 24);
  NEED(buffer == space && space[0] == 7 && space[3] == 7 && memcmp(space + 8, d, 16) == 0);
  /* And that of a new letter is zero. */
  buffer = NULL;
  NEED(zip_pack(mailer, reserved, ZIP_LETTER, &buffer, ZIP_IGNORE) == 24);
  NEED(buffer[0] == 0 && buffer[3] == 0);
  zip_free(mailer, buffer);
  zip_free_invoice(&invoice);
  zip_free_invoice(&reserved);
  zip_close(&mailer);
  if (all != NULL) zip_free_addressees(&all);
}

/* --- Many sends that nobody receives yet: the wire is full, and pack_send packs letters --- */

#define FLOOD 3000

static void flood(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER* mailer = z_open(all);
  const int size = zip_size(mailer), to = (zip_rank(mailer) + 1) % size, from = (zip_rank(mailer) + size - 1) % size;
  int i, k;
  double d[900];
  Zip_Invoice* invoice;
  NEED(zip_new_invoice(&invoice, "%i%300.3d", &i, d) == 0);
  for (i = 0; i < FLOOD; ++i) {
    for (k = 0; k < 900; ++k) d[k] = i + k;
    NEED(z_pack_send(mailer, to, invoice) == 0);
  }
  for (i = 0; i < FLOOD; ++i) {
    char* letter = z_recvb(mailer, from);
    const int number = i;
    memset(d, 0, sizeof d);
    NEED(zip_unpack(mailer, invoice, ZIP_LETTER, letter) == 2408);
    z_free_letter(mailer, letter);
    NEED(i == number && d[0] == number && d[897] == number + 897 && d[1] == 0);
    i = number;
  }
  zip_free_invoice(&invoice);
  zip_close(&mailer);
  if (all != NULL) zip_free_addressees(&all);
}

/* --- A large invoice, made by the builder --- */

#define ITEMS 2000

static void builder(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER* mailer = z_open(all);
  const int size = zip_size(mailer), to = (zip_rank(mailer) + 1) % size, from = (zip_rank(mailer) + size - 1) % size;
  static double grid[ITEMS][3], other[ITEMS][3];
  Zip_Invoice *columns, *incoming;
  char* letter;
  int k;
  NEED(zip_empty_invoice(&columns) == 0 && zip_empty_invoice(&incoming) == 0);
  NEED(zip_sizeof_invoice(mailer, columns) == 0);
  for (k = 0; k < ITEMS; ++k) {
    grid[k][1] = k + 0.5;
    other[k][1] = 0;
    NEED(zip_add_item(columns, &(Zip_Item){.type = "d", .data = &grid[k][1]}) == 0);
  }
  NEED(zip_add_format(incoming, "%*.3d", ITEMS, &other[0][1]) == 0);
  NEED(zip_sizeof_invoice(mailer, columns) == 8 * ITEMS);
  NEED(z_pack_send(mailer, to, columns) == 0);
  letter = z_recvb(mailer, from);
  NEED(zip_unpack(mailer, incoming, ZIP_LETTER, letter) == 8 * ITEMS);
  z_free_letter(mailer, letter);
  for (k = 0; k < ITEMS; ++k) NEED(other[k][1] == k + 0.5 && other[k][0] == 0);
  zip_free_invoice(&columns);
  zip_free_invoice(&incoming);
  zip_close(&mailer);
  if (all != NULL) zip_free_addressees(&all);
}

/* --- The conversion of a mailer is that of its children --- */

static void conversions(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  int P = zip_nodes(), Q = 1, R = 1, conversion, i;
  ZIP_MAILER* cube = g3_grid_open(&P, &Q, &R, all);
  ZIP_MAILER* family[] = {cube,
                          g3_PQ_plane(cube),
                          g3_QR_plane(cube),
                          g3_PR_plane(cube),
                          g2_row(g3_PQ_plane(cube)),
                          g2_col(g3_PQ_plane(cube)),
                          g2_row(g3_QR_plane(cube)),
                          g2_col(g3_QR_plane(cube)),
                          g2_row(g3_PR_plane(cube)),
                          g2_col(g3_PR_plane(cube))};
  short s = 1;
  Zip_Invoice* invoice;
  NEED(zip_new_invoice(&invoice, "%s", &s) == 0);
  for (conversion = ZIP_XDR; conversion >= ZIP_NATIVE; --conversion) {
    NEED(zip_set_conversion(cube, conversion) == 0);
    /* A short has two bytes, and four in XDR. */
    for (i = 0; i < 10; ++i) NEED(zip_sizeof_invoice(family[i], invoice) == (conversion == ZIP_XDR ? 4 : 2));
  }
  /* A child may have another one. */
  NEED(zip_set_conversion(family[1], ZIP_XDR) == 0 && zip_sizeof_invoice(cube, invoice) == 2);
  NEED(zip_sizeof_invoice(family[4], invoice) == 4 && zip_sizeof_invoice(family[6], invoice) == 2);
  zip_free_invoice(&invoice);
  zip_close(&cube);
  if (all != NULL) zip_free_addressees(&all);
}

/* --- Copies, for the trace: each process sends to the next one --- */

static void copies(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER* mailer = z_open(all);
  const int size = zip_size(mailer), to = (zip_rank(mailer) + 1) % size, from = (zip_rank(mailer) + size - 1) % size;
  Method* methods[] = {zip_new_method(matrix_in, &failures), zip_new_method(matrix_out, NULL),
                       zip_new_method(matrix_len, NULL), zip_new_method(matrix_align, NULL)};
  struct matrix M = {0, 0, {0}};
  Extra extra = {1};
  static double d[3000];
  int n = 50, k;
  char* letter = NULL;
  Zip_Invoice *strided, *deferred, *user, *lengthy;
  NEED(zip_register_invoice_type("matrix", methods[0], methods[1], methods[2], methods[3]) == 0);
  NEED(zip_new_invoice(&strided, "%100.3d%-c", d, NULL) == 0);
  NEED(zip_new_invoice(&deferred, "%i%&d", &n, &n, d) == 0);
  NEED(zip_new_invoice(&user, "%matrix(*)", &M, &extra) == 0);
  NEED(zip_new_invoice(&lengthy, "%3000d", d) == 0);
  NEED(z_pack_send(mailer, to, strided) == 0);                             /* 0 copies before the wire */
  NEED(z_pack_send(mailer, to, deferred) == 0);                            /* 0 */
  NEED(z_pack_send(mailer, to, user) == 0);                                /* 1 */
  NEED(z_pack_send(mailer, to, lengthy) == 0);                             /* 1 */
  NEED(zip_pack(mailer, strided, ZIP_LETTER, &letter, ZIP_IGNORE) == 801); /* 1 */
  z_send(mailer, letter, to);
  zip_set_conversion(mailer, ZIP_XDR);
  NEED(z_pack_send(mailer, to, strided) == 0); /* 1 */
  for (k = 0; k < 6; ++k) z_free_letter(mailer, z_recvb(mailer, from));
  zip_unregister_invoice_type("matrix");
  zip_free_invoice(&strided);
  zip_free_invoice(&deferred);
  zip_free_invoice(&user);
  zip_free_invoice(&lengthy);
  for (k = 0; k < 4; ++k) zip_free_method(&methods[k]);
  zip_close(&mailer);
  if (all != NULL) zip_free_addressees(&all);
}

static const Case cases[] = {
    {"paper", paper}, {"classes", classes}, {"combines", combines}, {"buffers", buffers},
    {"flood", flood}, {"builder", builder}, {"copies", copies},     {"conversions", conversions}};

int main(int argc, char** argv) {
  return run_program(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
