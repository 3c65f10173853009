/* Each call in the form of each class: zipcode_calls CASE... A table has the calls by rank. */
#include "cases.h"

/* The grids are P x Q x R, (P * Q) x R, and P * Q * R. */
static int P, Q, R;

#define P_OF(rank) ((rank) / R / Q)
#define Q_OF(rank) ((rank) / R % Q)
#define R_OF(rank) ((rank) % R)
#define PLACE(rank) P_OF(rank), Q_OF(rank), R_OF(rank)
#define PAIR(rank) (rank) / R, (rank) % R

static int name_class; /* of the program: the name is a rank */
static int by_name(int rank, int size, const int* name, void* po_box, void* extra) {
  (void)rank, (void)po_box, (void)extra;
  return name[0] < size ? name[0] : -1;
}

typedef struct Notation {
  int mail_class;
  char* (*make)(ZIP_MAILER* m, int bytes);
  void (*release)(ZIP_MAILER* m, char* letter);
  void (*send)(ZIP_MAILER* m, char* letter, int to);
  char* (*recv)(ZIP_MAILER* m, int from);
  char* (*recvb)(ZIP_MAILER* m, int from);
  int (*combine)(ZIP_MAILER* m, void* buffer, Method* by, int size, int items);
  int (*fanout)(ZIP_MAILER* m, void** data, int* length, int from);
  int (*exec)(ZIP_MAILER* m, void** data, int* length, Method* by, int from);
  int (*fanin)(ZIP_MAILER* m, int to, void* buffer, Method* by, int size, int items);
  int (*prefix)(ZIP_MAILER* m, void* buffer, Method* by, int size, int items);
  int (*sync)(ZIP_MAILER* m);
} Notation;

#define LETTERS(name, make_call, release_call, send_call, recv_call, recvb_call) \
  static char* name##_made(ZIP_MAILER* m, int bytes) {                           \
    return make_call(m, bytes);                                                  \
  }                                                                              \
  static void name##_released(ZIP_MAILER* m, char* letter) {                     \
    release_call(m, letter);                                                     \
  }                                                                              \
  static void name##_sent(ZIP_MAILER* m, char* letter, int to) {                 \
    send_call;                                                                   \
  }                                                                              \
  static char* name##_polled(ZIP_MAILER* m, int from) {                          \
    return recv_call;                                                            \
  }                                                                              \
  static char* name##_received(ZIP_MAILER* m, int from) {                        \
    return recvb_call;                                                           \
  }
#define OPERATIONS(name, combine_call, fanout_call, exec_call, fanin_call, prefix_call, sync_call)    \
  static int name##_combined(ZIP_MAILER* m, void* buffer, Method* by, int size, int items) {          \
    return combine_call(m, buffer, by, size, items);                                                  \
  }                                                                                                   \
  static int name##_fanned_out(ZIP_MAILER* m, void** data, int* length, int from) {                   \
    return fanout_call;                                                                               \
  }                                                                                                   \
  static int name##_executed(ZIP_MAILER* m, void** data, int* length, Method* by, int from) {         \
    return exec_call;                                                                                 \
  }                                                                                                   \
  static int name##_fanned_in(ZIP_MAILER* m, int to, void* buffer, Method* by, int size, int items) { \
    return fanin_call;                                                                                \
  }                                                                                                   \
  static int name##_prefixed(ZIP_MAILER* m, void* buffer, Method* by, int size, int items) {          \
    return prefix_call(m, buffer, by, size, items);                                                   \
  }                                                                                                   \
  static int name##_synchronized(ZIP_MAILER* m) {                                                     \
    return sync_call(m);                                                                              \
  }

LETTERS(y, y_new_letter, y_free_letter, y_send(m, letter, to, 7, zip_rank(m)), y_recv(m, from), y_recvb(m, from))
LETTERS(z, z_new_letter, z_free_letter, z_send(m, letter, to), z_recv(m, from), z_recvb(m, from))
LETTERS(l, l_new_letter, l_free_letter, l_send(m, letter, to, 7, 100000 + to), l_recv(m, from, 7, 100000 + zip_rank(m)),
        l_recvb(m, from, 7, 100000 + zip_rank(m)))
LETTERS(g1, g1_new_letter, g1_free_letter, g1_send(m, letter, to), g1_recv(m, from), g1_recvb(m, from))
LETTERS(g2, g2_new_letter, g2_free_letter, g2_send(m, letter, PAIR(to)), g2_recv(m, PAIR(from)),
        g2_recvb(m, PAIR(from)))
LETTERS(g3, g3_new_letter, g3_free_letter, g3_send(m, letter, PLACE(to)), g3_recv(m, PLACE(from)),
        g3_recvb(m, PLACE(from)))
LETTERS(own, zip_malloc, zip_free, zip_send(m, letter, &to), zip_recv(m, &from), zip_recvb(m, &from))
OPERATIONS(z, z_combine, z_fanout(m, data, length, from), z_fanout_exec(m, data, length, by, from),
           z_fanin(m, to, buffer, by, size, items), z_prefix, z_sync)
OPERATIONS(l, l_combine, l_fanout(m, data, length, from, 7), l_fanout_exec(m, data, length, by, from, 7),
           l_fanin(m, to, 7, buffer, by, size, items), l_prefix, l_sync)
OPERATIONS(g1, g1_combine, g1_fanout(m, data, length, from), g1_fanout_exec(m, data, length, by, from),
           g1_fanin(m, to, buffer, by, size, items), g1_prefix, g1_sync)
OPERATIONS(g2, g2_combine, g2_fanout(m, data, length, PAIR(from)), g2_fanout_exec(m, data, length, by, PAIR(from)),
           g2_fanin(m, PAIR(to), buffer, by, size, items), g2_prefix, g2_sync)
OPERATIONS(g3, g3_combine, g3_fanout(m, data, length, PLACE(from)), g3_fanout_exec(m, data, length, by, PLACE(from)),
           g3_fanin(m, PLACE(to), buffer, by, size, items), g3_prefix, g3_sync)
OPERATIONS(own, zip_combine, zip_fanout(m, data, length, from), zip_fanout_exec(m, data, length, by, from),
           zip_fanin(m, to, buffer, by, size, items), zip_prefix, zip_sync)

#define LETTERS_OF(name) name##_made, name##_released, name##_sent, name##_polled, name##_received
#define OPERATIONS_OF(name) \
  name##_combined, name##_fanned_out, name##_executed, name##_fanned_in, name##_prefixed, name##_synchronized
static const Notation notations[] = {{ZIP_Y, LETTERS_OF(y), NULL, NULL, NULL, NULL, NULL, NULL},
                                     {ZIP_Z, LETTERS_OF(z), OPERATIONS_OF(z)},
                                     {ZIP_L, LETTERS_OF(l), OPERATIONS_OF(l)},
                                     {ZIP_G1, LETTERS_OF(g1), OPERATIONS_OF(g1)},
                                     {ZIP_G2, LETTERS_OF(g2), OPERATIONS_OF(g2)},
                                     {ZIP_G3, LETTERS_OF(g3), OPERATIONS_OF(g3)},
                                     {ZIP_FIRST_CLASS, LETTERS_OF(own), OPERATIONS_OF(own)}};
enum { kNotations = sizeof notations / sizeof notations[0] };

/* The shape for all processes, which have the ranks of their nodes. */
static void set_shape(void) {
  const int nodes = zip_nodes();
  R = nodes % 2 == 0 ? 2 : 1;
  Q = nodes / R % 2 == 0 ? 2 : nodes / R % 3 == 0 ? 3 : 1;
  P = nodes / R / Q;
}

static ZIP_MAILER* open_class(int mail_class, ZIP_ADDRESSEES* all) {
  int size = zip_nodes(), pairs = P * Q;
  switch (mail_class) {
    case ZIP_Y:
      return y_open(all);
    case ZIP_Z:
      return z_open(all);
    case ZIP_L:
      return l_open(all);
    case ZIP_G1:
      return g1_grid_open(&size, all);
    case ZIP_G2:
      return g2_grid_open(&pairs, &R, all);
    case ZIP_G3:
      return g3_grid_open(&P, &Q, &R, all);
    default:
      return zip_open(mail_class, all);
  }
}

static ZIP_MAILER* open_class_with(int mail_class, ZIP_ADDRESSEES* all, int id) {
  switch (mail_class) {
    case ZIP_Y:
      return y_open_with(all, id);
    case ZIP_Z:
      return z_open_with(all, id);
    case ZIP_L:
      return l_open_with(all, id);
    case ZIP_G1:
      return g1_grid_open_with(zip_nodes(), all, id);
    case ZIP_G2:
      return g2_grid_open_with(P * Q, R, all, id);
    case ZIP_G3:
      return g3_grid_open_with(P, Q, R, all, id);
    default:
      return zip_open_with(mail_class, all, id);
  }
}

/* Letters of each class and several lengths go to the next process and are received by waits and by polls. */
static void exchange(const Notation* by, ZIP_MAILER* mailer) {
  static const int lengths[] = {0, 1, 100, 16300, 20000};
  const int rank = zip_rank(mailer), size = zip_size(mailer), to = (rank + 1) % size, from = (rank + size - 1) % size;
  int i, blocked;
  for (i = 0; i < 5; ++i) {
    for (blocked = 0; blocked < 2; ++blocked) {
      char* letter = by->make(mailer, lengths[i]);
      NEED(zip_length(mailer, letter) == lengths[i]);
      memset(letter, rank + i, (size_t)lengths[i]);
      by->send(mailer, letter, to);
      letter = blocked ? by->recvb(mailer, from) : NULL;
      while (letter == NULL) letter = by->recv(mailer, from);
      NEED(zip_length(mailer, letter) == lengths[i]);
      NEED(lengths[i] == 0 || letter[lengths[i] - 1] == (char)(from + i));
      by->release(mailer, letter);
      by->release(mailer, by->make(mailer, 3));
    }
  }
}

static void letters(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  int n;
  set_shape();
  for (n = 0; n < kNotations; ++n) {
    ZIP_MAILER* mailer = open_class(notations[n].mail_class, all);
    exchange(&notations[n], mailer);
    zip_close(&mailer);
  }
  zip_free_addressees(&all);
}

static void explicit_letters(void) {
  ZIP_ADDRESSEES* all = zip_new_cohort(zip_nodes(), COHORT_FIRST_NODE, 7, 0);
  int n, id = ZIP_FIRST_EXPLICIT;
  set_shape();
  for (n = 0; n < kNotations; ++n) {
    ZIP_MAILER* mailer = open_class_with(notations[n].mail_class, all, id);
    NEED(zip_context_id(mailer) == id && zip_class(mailer) == notations[n].mail_class);
    exchange(&notations[n], mailer);
    id += zip_context_ids(notations[n].mail_class);
    zip_close(&mailer);
  }
  zip_free_addressees(&all);
}

static void add(void* into, const void* from, int size, int items, void* state) {
  (void)size, (void)state;
  while (items-- > 0) ((int*)into)[items] += ((const int*)from)[items];
}
static void count_run(void* data, int length, void* state) {
  NEED(length == (int)sizeof(int));
  ++*(int*)data;
  ++*(int*)state;
}
static int triangle(int n) {
  return n * (n - 1) / 2;
}
/* The processes between the origin and a rank in the binomial tree. */
static int depth_of(int rank, int root, int size) {
  int number = (rank - root + size) % size, depth = 0;
  for (; number != 0; number &= number - 1) ++depth;
  return depth;
}

static void operations(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  int n, root, runs = 0;
  Method *sum = zip_new_method(add, NULL), *run = zip_new_method(count_run, &runs);
  set_shape();
  for (n = 0; n < kNotations; ++n) {
    const Notation* by = &notations[n];
    ZIP_MAILER* mailer = open_class(by->mail_class, all);
    const int rank = zip_rank(mailer), size = zip_size(mailer);
    for (root = 0; by->combine != NULL && root < size; ++root) {
      int values[2] = {rank, 1}, length = (int)sizeof values;
      void* data = rank == root ? values : NULL;
      NEED(by->combine(mailer, values, sum, 4, 2) == 0 && values[0] == triangle(size) && values[1] == size);
      values[0] = rank;
      NEED(by->prefix(mailer, values, sum, 4, 1) == 0 && values[0] == triangle(rank + 1));
      values[0] = values[1] = rank;
      NEED(by->fanin(mailer, root, values, sum, 4, 2) == 0);
      if (rank == root) NEED(values[0] == triangle(size) && values[1] == triangle(size));
      values[0] = 100 + root;
      NEED(by->fanout(mailer, &data, &length, root) == 0 && *(int*)data == 100 + root && length == 8);
      if (rank != root) free(data);
      data = rank == root ? values : NULL;
      length = (int)sizeof(int);
      runs = 0;
      NEED(by->exec(mailer, &data, &length, run, root) == 0 && runs == 1);
      NEED(*(int*)data == 101 + root + depth_of(rank, root, size));
      if (rank != root) free(data);
      NEED(by->sync(mailer) == 0);
    }
    zip_close(&mailer);
  }
  zip_free_method(&sum);
  zip_free_method(&run);
  zip_free_addressees(&all);
}

/* --- Planes and subgrids. --- */

/* The shorthands on a plane of extents A x B, at place (a, b) in it, c is the third coordinate; letters in the plane
 * and its row, received by polls. */
#define ON_PLANE(plane, a, b, c, A, B)                                                               \
  do {                                                                                               \
    ZIP_MAILER *mailer = g3_##plane##_plane(cube), *row = g2_row(mailer);                            \
    int value = 10 * (a) + (b), length = (int)sizeof value;                                          \
    void* data = (a) == (A)-1 && (b) == (B)-1 ? &value : NULL;                                       \
    char* letter;                                                                                    \
    NEED(mailer == plane##_plane(cube) && zip_size(mailer) == (A) * (B) && zip_size(row) == (B));    \
    NEED(g3_##plane##_combine(cube, &value, sum, 4, 1) == 0);                                        \
    NEED(value == 10 * triangle(A) * (B) + triangle(B) * (A));                                       \
    value = 1000 + (c);                                                                              \
    NEED(g3_##plane##_fanout(cube, &data, &length, (A)-1, (B)-1) == 0 && *(int*)data == 1000 + (c)); \
    if (data != &value) free(data);                                                                  \
    value = 1;                                                                                       \
    NEED(g3_##plane##_fanin(cube, (A)-1, (B)-1, &value, sum, 4, 1) == 0);                            \
    if ((a) == (A)-1 && (b) == (B)-1) NEED(value == (A) * (B));                                      \
    g2_send(mailer, g2_new_letter(mailer, (a) + 1), ((a) + 1) % (A), (b));                           \
    while ((letter = g2_recv(mailer, ((a) + (A)-1) % (A), (b))) == NULL) continue;                   \
    NEED(zip_length(mailer, letter) == ((a) + (A)-1) % (A) + 1);                                     \
    g2_free_letter(mailer, letter);                                                                  \
    g1_send(row, g1_new_letter(row, (b) + 1), ((b) + 1) % (B));                                      \
    while ((letter = g1_recv(row, ((b) + (B)-1) % (B))) == NULL) continue;                           \
    NEED(zip_length(row, letter) == ((b) + (B)-1) % (B) + 1);                                        \
    g1_free_letter(row, letter);                                                                     \
  } while (0)

static void planes(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  Method* sum = zip_new_method(add, NULL);
  ZIP_MAILER* cube;
  int p, q, r;
  set_shape();
  cube = g3_grid_open(&P, &Q, &R, all);
  g3_pqr(cube, p, q, r);
  ON_PLANE(PQ, p, q, r, P, Q);
  ON_PLANE(QR, q, r, p, Q, R);
  ON_PLANE(PR, p, r, q, P, R);
  zip_close(&cube);
  zip_free_method(&sum);
  zip_free_addressees(&all);
}

/* The last of the first coordinates is subgrid 0, so the Postmaster is a member of the last subgrid. */
static int backwards_1(int p, void* extra) {
  return *(int*)extra - 1 - p;
}
static int backwards_2(int p, int q, void* extra) {
  (void)q;
  return *(int*)extra - 1 - p;
}
static int backwards_3(int p, int q, int r, void* extra) {
  (void)q, (void)r;
  return *(int*)extra - 1 - p;
}

static ZIP_MAILER** open_subgrids(ZIP_MAILER* grid, int* extent, int* count) {
  if (zip_class(grid) == ZIP_G1) return g1_subgrid_open(grid, backwards_1, extent, count);
  if (zip_class(grid) == ZIP_G2) return g2_subgrid_open(grid, backwards_2, extent, count);
  return g3_subgrid_open(grid, backwards_3, extent, count);
}
static ZIP_MAILER* open_subgrid(int mail_class) {
  int a = -1, b = -1, c = -1;
  if (mail_class == ZIP_G1) return g1_grid_open(&a, NULL);
  if (mail_class == ZIP_G2) return g2_grid_open(&a, &b, NULL);
  return g3_grid_open(&a, &b, &c, NULL);
}

static void subgrids(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  int mail_class, count = 0, i, value;
  Method* sum = zip_new_method(add, NULL);
  set_shape();
  for (mail_class = ZIP_G1; mail_class <= ZIP_G3; ++mail_class) {
    ZIP_MAILER *grid = open_class(mail_class, all), *mine;
    int extent = zip_shape(grid, mail_class, 0);
    const int members = zip_size(grid) / extent;
    ZIP_MAILER** subs = all == NULL ? NULL : open_subgrids(grid, &extent, &count);
    if (subs == NULL) {
      mine = open_subgrid(mail_class);
    } else {
      NEED(count == extent);
      for (i = 0; i < count; ++i) {
        NEED(zip_size(subs[i]) == members);
        NEED((zip_rank(subs[i]) == ZIP_POSTMASTER) == (i != count - 1));
      }
      mine = subs[count - 1];
    }
    NEED(zip_class(mine) == mail_class && zip_shape(mine, mail_class, 0) == 1 && zip_size(mine) == members);
    value = 1;
    NEED(zip_combine(mine, &value, sum, 4, 1) == 0 && value == members);
    if (subs == NULL) zip_close(&mine);
    for (i = 0; subs != NULL && i < count; ++i) zip_close(&subs[i]);
    free(subs);
    zip_close(&grid);
  }
  zip_free_method(&sum);
  zip_free_addressees(&all);
}

static const Case cases[] = {{"letters", letters},
                             {"explicit_letters", explicit_letters},
                             {"operations", operations},
                             {"planes", planes},
                             {"subgrids", subgrids}};

int main(int argc, char** argv) {
  const Zip_mail_class by_rank = {"by rank", 1, 0, by_name, by_name, NULL};
  name_class = zip_register_class(&by_rank);
  NEED(name_class == ZIP_FIRST_CLASS);
  return run_program(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
