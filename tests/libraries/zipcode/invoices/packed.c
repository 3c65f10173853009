/* Packed collective operations and receives, in each class: zipcode_packed CASE... */
#include "../cases.h"

static int P, Q, R;

static int p_of(int rank) {
  return rank / R / Q;
}
static int q_of(int rank) {
  return rank / R % Q;
}
static int r_of(int rank) {
  return rank % R;
}

/* The calls of a class, by rank: the grids are P x Q x R, (P * Q) x R and P * Q * R. */
#define BY_RANK(name, combine_call, fanin_call, fanout_call, send_call, recv_call)       \
  static int name##_combine_by_rank(ZIP_MAILER* m, Zip_Invoice* inv, Method* by) {       \
    return combine_call;                                                                 \
  }                                                                                      \
  static int name##_fanin_by_rank(ZIP_MAILER* m, int to, Zip_Invoice* inv, Method* by) { \
    return fanin_call;                                                                   \
  }                                                                                      \
  static int name##_fanout_by_rank(ZIP_MAILER* m, Zip_Invoice* inv, int from) {          \
    return fanout_call;                                                                  \
  }                                                                                      \
  static int name##_send_by_rank(ZIP_MAILER* m, int to, Zip_Invoice* inv) {              \
    return send_call;                                                                    \
  }                                                                                      \
  static int name##_recv_by_rank(ZIP_MAILER* m, int from, Zip_Invoice* inv) {            \
    return recv_call;                                                                    \
  }

BY_RANK(z, z_pack_combine(m, inv, by), z_pack_fanin(m, to, inv, by), z_pack_fanout(m, inv, from),
        z_pack_send(m, to, inv), z_recv_unpack(m, from, inv))
BY_RANK(l, l_pack_combine(m, inv, by), l_pack_fanin(m, to, 7, inv, by), l_pack_fanout(m, inv, from, 7),
        l_pack_send(m, to, 7, 70000 + zip_rank(m), inv), l_recv_unpack(m, from, 7, 70000 + from, inv))
BY_RANK(g1, g1_pack_combine(m, inv, by), g1_pack_fanin(m, to, inv, by), g1_pack_fanout(m, inv, from),
        g1_pack_send(m, to, inv), g1_recv_unpack(m, from, inv))
BY_RANK(g2, g2_pack_combine(m, inv, by), g2_pack_fanin(m, to / R, to % R, inv, by),
        g2_pack_fanout(m, inv, from / R, from % R), g2_pack_send(m, to / R, to % R, inv),
        g2_recv_unpack(m, from / R, from % R, inv))
BY_RANK(g3, g3_pack_combine(m, inv, by), g3_pack_fanin(m, p_of(to), q_of(to), r_of(to), inv, by),
        g3_pack_fanout(m, inv, p_of(from), q_of(from), r_of(from)), g3_pack_send(m, p_of(to), q_of(to), r_of(to), inv),
        g3_recv_unpack(m, p_of(from), q_of(from), r_of(from), inv))
/* Class Y has sends and receives; the class-free calls have collective operations. */
BY_RANK(y, zip_pack_combine(m, inv, by), zip_pack_fanin(m, to, inv, by), zip_pack_fanout(m, inv, from),
        y_pack_send(m, to, 7, zip_rank(m), inv), y_recv_unpack(m, from, inv))

#define NOTATION(name, mail_class)                                                                        \
  {                                                                                                       \
    mail_class, name##_combine_by_rank, name##_fanin_by_rank, name##_fanout_by_rank, name##_send_by_rank, \
        name##_recv_by_rank                                                                               \
  }
static const struct notation {
  int mail_class;
  int (*combine)(ZIP_MAILER*, Zip_Invoice*, Method*);
  int (*fanin)(ZIP_MAILER*, int, Zip_Invoice*, Method*);
  int (*fanout)(ZIP_MAILER*, Zip_Invoice*, int);
  int (*send)(ZIP_MAILER*, int, Zip_Invoice*);
  int (*recv)(ZIP_MAILER*, int, Zip_Invoice*);
} notations[] = {NOTATION(z, ZIP_Z),   NOTATION(l, ZIP_L), NOTATION(g1, ZIP_G1), NOTATION(g2, ZIP_G2),
                 NOTATION(g3, ZIP_G3), NOTATION(y, ZIP_Y), NOTATION(y, ZIP_Z)};
enum { kNotations = sizeof notations / sizeof notations[0] };

static ZIP_MAILER* open_class(int mail_class) {
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER* mailer;
  int size = zip_nodes(), pairs;
  R = size % 2 == 0 ? 2 : 1;
  Q = size / R % 2 == 0 ? 2 : 1;
  P = size / R / Q;
  pairs = P * Q;
  if (mail_class == ZIP_Z)
    mailer = z_open(all);
  else if (mail_class == ZIP_L)
    mailer = l_open(all);
  else if (mail_class == ZIP_Y)
    mailer = y_open(all);
  else if (mail_class == ZIP_G1)
    mailer = g1_grid_open(&size, all);
  else if (mail_class == ZIP_G2)
    mailer = g2_grid_open(&pairs, &R, all);
  else
    mailer = g3_grid_open(&P, &Q, &R, all);
  if (all != NULL) zip_free_addressees(&all);
  return mailer;
}

/* Variables: an int, a deferred count, and as many doubles. */
struct record {
  int key, count;
  double values[3000];
};
static void fill(struct record* r, int rank, int count) {
  int i;
  r->key = rank;
  r->count = count;
  for (i = 0; i < count; ++i) r->values[i] = rank + i;
}
static int triangle(int n) {
  return n * (n - 1) / 2;
}

/* Combine, fan-in and fan-out of invoices in each class, from and to each member, in both conversions. */
static void operations(void) {
  static struct record r;
  Zip_Invoice *sums, *deferred;
  int conversion, n, k, i;
  NEED(zip_new_invoice(&sums, "%i%2000d", &r.key, r.values) == 0);
  NEED(zip_new_invoice(&deferred, "%i%i%&d", &r.key, &r.count, &r.count, r.values) == 0);
  for (n = 0; n < kNotations; ++n) {
    const struct notation* by = &notations[n];
    ZIP_MAILER* mailer = open_class(by->mail_class);
    const int rank = zip_rank(mailer), size = zip_size(mailer);
    for (conversion = ZIP_NATIVE; conversion <= ZIP_XDR && by->mail_class != ZIP_Y; ++conversion) {
      zip_set_conversion(mailer, conversion);
      fill(&r, rank, 2000);
      NEED(by->combine(mailer, sums, ZIP_ADD) == 0);
      NEED(r.key == triangle(size));
      for (i = 0; i < 2000; ++i) NEED(r.values[i] == triangle(size) + size * i);
      for (k = 0; k < size; ++k) {
        fill(&r, rank, 2000);
        NEED(by->fanin(mailer, k, sums, ZIP_ADD) == 0);
        NEED(r.key == (rank == k ? triangle(size) : rank));
        for (i = 0; i < 2000; ++i) NEED(r.values[i] == (rank == k ? triangle(size) + size * i : rank + i));
        /* The receivers unpack the count first. */
        fill(&r, rank, rank == k ? 1000 + k : 1);
        NEED(by->fanout(mailer, deferred, k) == 0);
        NEED(r.key == k && r.count == 1000 + k);
        for (i = 0; i < r.count; ++i) NEED(r.values[i] == k + i);
      }
    }
    zip_close(&mailer);
  }
  zip_free_invoice(&sums);
  zip_free_invoice(&deferred);
}

/* A receive that unpacks, short and long, in each class. */
static void receives(void) {
  static struct record r;
  static const int counts[] = {0, 5, 3000};
  Zip_Invoice* invoice;
  int n, c, i;
  NEED(zip_new_invoice(&invoice, "%i%i%&d", &r.key, &r.count, &r.count, r.values) == 0);
  for (n = 0; n < kNotations; ++n) {
    const struct notation* by = &notations[n];
    ZIP_MAILER* mailer = open_class(by->mail_class);
    const int rank = zip_rank(mailer), size = zip_size(mailer), to = (rank + 1) % size, from = (rank + size - 1) % size;
    if (n + 1 == kNotations) { /* its sends are those of Y */
      zip_close(&mailer);
      break;
    }
    for (c = 0; c < 3; ++c) {
      fill(&r, rank, counts[c]);
      NEED(by->send(mailer, to, invoice) == 0);
      fill(&r, 99, 1);
      NEED(by->recv(mailer, from, invoice) == 8 + 8 * counts[c]);
      NEED(r.key == from && r.count == counts[c]);
      for (i = 0; i < counts[c]; ++i) NEED(r.values[i] == from + i);
    }
    zip_close(&mailer);
  }
  zip_free_invoice(&invoice);
}

/* Errors: the letter is freed also if it does not fit, and stays if the arguments are wrong. */
static int errors_reported = 0;
static void count_error(const char* message) {
  (void)message;
  ++errors_reported;
}
static void refused(void) {
  ZIP_MAILER *mailer = open_class(ZIP_Z), *tagged = open_class(ZIP_Y);
  const int rank = zip_rank(mailer);
  int value = 1, values[2] = {1, 2};
  Zip_Invoice *one, *two;
  Zip_error_handler* former = zip_set_error_handler(count_error);
  NEED(zip_new_invoice(&one, "%i", &value) == 0 && zip_new_invoice(&two, "%2i", values) == 0);
  NEED(z_pack_send(mailer, rank, one) == 0);
  NEED(z_recv_unpack(mailer, rank, NULL) == -1 && g1_recv_unpack(mailer, rank, one) == -1 && errors_reported == 2);
  NEED(z_recv_unpack(mailer, rank, two) == -1 && errors_reported == 3);
  NEED(z_recv(mailer, rank) == NULL && errors_reported == 3);
  NEED(zip_pack_combine(tagged, one, ZIP_ADD) != 0 && zip_pack_fanin(tagged, 0, one, ZIP_ADD) != 0);
  NEED(zip_pack_fanout(tagged, one, 0) != 0 && errors_reported == 6);
  NEED(z_pack_fanout(mailer, one, 99) != 0 && z_pack_fanin(mailer, 99, one, ZIP_ADD) != 0 && errors_reported == 8);
  NEED(z_pack_fanout(mailer, NULL, 0) != 0 && l_pack_fanout(mailer, one, 0, 7) != 0 && errors_reported == 10);
  zip_set_error_handler(former);
  zip_free_invoice(&one);
  zip_free_invoice(&two);
  zip_close(&mailer);
  zip_close(&tagged);
}

static const Case cases[] = {{"operations", operations}, {"receives", receives}, {"refused", refused}};

int main(int argc, char** argv) {
  return run_program(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
