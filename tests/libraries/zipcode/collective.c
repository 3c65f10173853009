/* Collective operations, by messages and by shared memory, and classes of the program: zipcode_collective CASE... */
#include "cases.h"

static void add_ints(void* into, const void* from, int size, int items, void* state) {
  int i;
  NEED(size == (int)sizeof(int));
  for (i = 0; i < items; ++i) ((int*)into)[i] += ((const int*)from)[i];
  if (state != NULL) ++*(int*)state;
}

ZIP_COMBINE_METHOD(max_long, long, a, b, a > b ? a : b);

static int triangle(int n) {
  return n * (n - 1) / 2;
}

/* All operations on one mailer, from each root, with short and long buffers. */
static void all_operations(ZIP_MAILER* mailer, Method* add) {
  const int rank = zip_rank(mailer), size = zip_size(mailer);
  const int counts[] = {0, 1, 1000, 40000};
  int c, i, root;
  for (c = 0; c < 4; ++c) {
    const int items = counts[c];
    int* buffer = malloc((size_t)(items + 1) * sizeof *buffer);
    long most = rank * 7 % size;
    for (i = 0; i < items; ++i) buffer[i] = rank + i;
    NEED(zip_combine(mailer, buffer, add, (int)sizeof *buffer, items) == 0);
    for (i = 0; i < items; ++i) NEED(buffer[i] == triangle(size) + size * i);
    NEED(zip_combine(mailer, &most, max_long, (int)sizeof most, 1) == 0);
    for (i = 0; i < size; ++i) NEED(most >= i * 7 % size);
    for (i = 0; i < items; ++i) buffer[i] = rank + i;
    NEED(zip_prefix(mailer, buffer, add, (int)sizeof *buffer, items) == 0);
    for (i = 0; i < items; ++i) NEED(buffer[i] == triangle(rank + 1) + (rank + 1) * i);
    for (root = 0; root < size; ++root) {
      void* data = rank == root ? buffer : NULL;
      int length = rank == root ? items * (int)sizeof *buffer : -5;
      for (i = 0; i < items; ++i) buffer[i] = rank == root ? root + i : -1;
      NEED(zip_fanout(mailer, &data, &length, root) == 0);
      NEED(length == items * (int)sizeof *buffer);
      for (i = 0; i < items; ++i) NEED(((int*)data)[i] == root + i);
      if (rank != root) free(data);
      /* Into memory of the program. */
      data = buffer;
      NEED(zip_fanout(mailer, &data, &length, root) == 0);
      NEED(data == buffer);
      for (i = 0; i < items; ++i) NEED(buffer[i] == root + i);
      for (i = 0; i < items; ++i) buffer[i] = rank;
      NEED(zip_fanin(mailer, root, buffer, add, (int)sizeof *buffer, items) == 0);
      if (rank == root) {
        for (i = 0; i < items; ++i) NEED(buffer[i] == triangle(size));
      }
    }
    NEED(zip_sync(mailer) == 0);
    free(buffer);
  }
}

static void collectives(void) {
  ZIP_ADDRESSEES* all = everyone(zip_nodes() - 1);
  Method* add = zip_new_method(add_ints, NULL);
  ZIP_MAILER* mailer = z_open(all);
  int P = zip_nodes(), Q = 1, R = 1, one = 1, length = (int)sizeof one;
  void* data = &one;
  Zip_process first;
  all_operations(mailer, add);
  zip_close(&mailer);
  mailer = l_open(all);
  {
    ZIP_ADDRESSEES* members = zip_addressees(mailer);
    first = zip_addressee(members, 0);
    zip_free_addressees(&members);
  }
  NEED(l_combine(mailer, &one, add, (int)sizeof one, 1) == 0 && one == zip_nodes());
  NEED(l_fanout(mailer, &data, &length, first.node, first.pid) == 0);
  NEED(l_fanin(mailer, first.node, first.pid, &one, add, (int)sizeof one, 1) == 0);
  NEED(zip_rank(mailer) != 0 || one == zip_nodes() * zip_nodes());
  zip_close(&mailer);
  if (P % 2 == 0) {
    P /= 2;
    R = 2;
  }
  mailer = g3_grid_open(&P, &Q, &R, all);
  all_operations(mailer, add);
  all_operations(g3_PR_plane(mailer), add);
  all_operations(g2_row(g3_PR_plane(mailer)), add);
  all_operations(g2_col(g3_PR_plane(mailer)), add);
  zip_close(&mailer);
  zip_free_method(&add);
  zip_free_addressees(&all);
}

/* The calls as the paper prints them, on a grid of two dimensions. */
static void printed(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  Method* add = zip_new_method(add_ints, NULL);
  int P = zip_nodes(), Q = 1, p, q, value, length = 0;
  void* data = NULL;
  ZIP_MAILER* grid;
  if (P % 3 == 0) {
    P /= 3;
    Q = 3;
  }
  grid = g2_grid_open(&P, &Q, all);
  g2_PQ(grid, P, Q);
  g2_pq(grid, p, q);
  value = 10 * p + q;
  NEED(g2_row_combine(grid, &value, add, (int)sizeof value, 1) == 0 && value == 10 * p * Q + triangle(Q));
  value = 10 * p + q;
  NEED(g2_col_combine(grid, &value, add, (int)sizeof value, 1) == 0 && value == 10 * triangle(P) + q * P);
  value = 10 * p + q;
  NEED(g2_combine(grid, &value, add, (int)sizeof value, 1) == 0 && value == 10 * Q * triangle(P) + P * triangle(Q));
  value = 10 * p + q;
  if (q == Q - 1) {
    data = &value;
    length = (int)sizeof value;
  }
  NEED(g2_row_fanout(grid, &data, &length, Q - 1) == 0 && *(int*)data == 10 * p + Q - 1);
  if (q != Q - 1) free(data);
  data = p == P - 1 ? &value : NULL;
  length = (int)sizeof value;
  NEED(g2_col_fanout(grid, &data, &length, P - 1) == 0 && *(int*)data == 10 * (P - 1) + q);
  if (p != P - 1) free(data);
  data = p == 0 && q == Q - 1 ? &value : NULL;
  length = (int)sizeof value;
  NEED(g2_fanout(grid, &data, &length, 0, Q - 1) == 0 && *(int*)data == Q - 1);
  if (data != &value) free(data);
  NEED(g2_row_fanin(grid, 0, &value, add, (int)sizeof value, 1) == 0);
  if (q == 0) NEED(value == 10 * p * Q + triangle(Q));
  value = 1;
  NEED(g2_col_fanin(grid, P - 1, &value, add, (int)sizeof value, 1) == 0);
  if (p == P - 1) NEED(value == P);
  value = 1;
  NEED(g2_fanin(grid, P - 1, 0, &value, add, (int)sizeof value, 1) == 0);
  if (p == P - 1 && q == 0) NEED(value == P * Q);
  zip_close(&grid);
  zip_free_method(&add);
  zip_free_addressees(&all);
}

static void increment(void* data, int length, void* state) {
  NEED(length == (int)sizeof(int));
  ++*(int*)data;
  ++*(int*)state;
}

/* The method of a fanout_exec runs once at each process, before the data are passed on. */
static void exec(void) {
  ZIP_MAILER* mailer = open_all(0);
  int runs = 0, value = 100, length = (int)sizeof value, depth = 0, number;
  void* data = zip_rank(mailer) == 0 ? &value : NULL;
  Method* method = zip_new_method(increment, &runs);
  NEED(z_fanout_exec(mailer, &data, &length, method, 0) == 0);
  NEED(runs == 1 && length == (int)sizeof value);
  /* Each process on the way from the origin has added one: in a binomial tree, as many as the rank has bits. */
  for (number = zip_rank(mailer); number != 0; number &= number - 1) ++depth;
  NEED(*(int*)data == 101 + depth);
  if (zip_rank(mailer) != 0) free(data);
  zip_free_method(&method);
  zip_close(&mailer);
}

/* A ring: the name is a distance, the PO Box whether the letter goes up or down. */
static int ring_send(int rank, int size, const int* name, void* po_box, void* extra) {
  *(signed char*)po_box = (signed char)(name[0] > 0 ? 1 : -1);
  NEED(extra == NULL);
  return ((rank + name[0]) % size + size) % size;
}
static int ring_receive(int rank, int size, const int* name, void* po_box, void* extra) {
  (void)extra;
  *(signed char*)po_box = (signed char)(name[0] > 0 ? -1 : 1);
  return ((rank + name[0]) % size + size) % size;
}

/* A binary tree: the name 0 is the parent, 1 and 2 are the children. The PO Box has the sender's way, in words. */
static int tree_rank(int rank, int size, int name) {
  const int other = name == 0 ? (rank - 1) / 2 : 2 * rank + name;
  if (name < 0 || name > 2 || (name == 0 && rank == 0) || other >= size) return -1;
  return other;
}
static int tree_send(int rank, int size, const int* name, void* po_box, void* extra) {
  ++*(int*)extra;
  strncpy(po_box, name[0] == 0 ? "from a child" : "from the parent", 16);
  return tree_rank(rank, size, name[0]);
}
static int tree_receive(int rank, int size, const int* name, void* po_box, void* extra) {
  (void)extra;
  strncpy(po_box, name[0] == 0 ? "from the parent" : "from a child", 16);
  return tree_rank(rank, size, name[0]);
}

static int letter_value(ZIP_MAILER* mailer, char* letter) {
  int value;
  memcpy(&value, letter, sizeof value);
  zip_free(mailer, letter);
  return value;
}
static void send_value(ZIP_MAILER* mailer, int value, int name) {
  char* letter = zip_malloc(mailer, (int)sizeof value);
  memcpy(letter, &value, sizeof value);
  zip_send(mailer, letter, &name);
}

static void classes(void) {
  static int sends = 0;
  const Zip_mail_class ring = {"ring", 1, 1, ring_send, ring_receive, NULL};
  const Zip_mail_class tree = {"binary tree", 1, 16, tree_send, tree_receive, &sends};
  const int ring_class = zip_register_class(&ring), tree_class = zip_register_class(&tree);
  const int up = 1, down = -1, parent = 0, left = 1, right = 2;
  ZIP_ADDRESSEES* all = everyone(0);
  ZIP_MAILER* mailer = zip_open(ring_class, all);
  const int rank = zip_rank(mailer), size = zip_size(mailer);
  int sum;
  NEED(ring_class >= ZIP_FIRST_CLASS && tree_class == ring_class + 1);
  /* With two processes, both neighbours are one process, and the PO Box distinguishes the letters. */
  send_value(mailer, rank, 1);
  send_value(mailer, 100 + rank, -1);
  NEED(letter_value(mailer, zip_recvb(mailer, &up)) == 100 + (rank + 1) % size);
  NEED(letter_value(mailer, zip_recvb(mailer, &down)) == (rank + size - 1) % size);
  zip_close(&mailer);

  mailer = zip_open(tree_class, all);
  sum = rank;
  if (2 * rank + 2 < size) sum += letter_value(mailer, zip_recvb(mailer, &right));
  if (2 * rank + 1 < size) sum += letter_value(mailer, zip_recvb(mailer, &left));
  if (rank != 0) {
    send_value(mailer, sum, parent);
    NEED(sends > 0);
  } else {
    NEED(sum == triangle(size));
  }
  NEED(zip_sync(mailer) == 0);
  zip_close(&mailer);
  zip_free_addressees(&all);
}

/* The operations by shared memory have the same results; a mailer over two nodes has none. */
static void shared(void) {
  ZIP_MAILER* mailer = open_all(0);
  Method* add = zip_new_method(add_ints, NULL);
  const int is_shared = zip_on_one_node(mailer);
  NEED((zip_use_shared_memory(mailer) == 0) == is_shared);
  NEED(strcmp(zip_operation_name(mailer, ZIP_OP_COMBINE), is_shared ? "shared memory" : "message passing") == 0);
  NEED(strcmp(zip_operation_name(mailer, ZIP_OP_SEND), "message passing") == 0);
  all_operations(mailer, add);
  {
    /* An item that is longer than the memory of a member goes by messages. */
    char* big = calloc(1, 100000);
    int length = 100000;
    void* data = big;
    NEED(zip_fanout(mailer, &data, &length, 0) == 0 && data == big);
    free(big);
  }
  zip_free_method(&add);
  zip_close(&mailer);
}

/* A Postmaster outside of the grid is not a member, and needs none of their memory. */
static void shared_outside(void) {
  const int nodes = zip_nodes();
  ZIP_ADDRESSEES* all = everyone(0);
  Method* add = zip_new_method(add_ints, NULL);
  int P = 1, Q = nodes - 1;
  ZIP_MAILER* mailer;
  if (nodes > 1) {
    mailer = g2_grid_open(&P, &Q, all);
    if (zip_rank(mailer) == ZIP_POSTMASTER) {
      NEED(zip_use_shared_memory(mailer) != 0);
    } else {
      const int is_shared = zip_on_one_node(mailer);
      NEED((zip_use_shared_memory(mailer) == 0) == is_shared);
      NEED(strcmp(zip_operation_name(mailer, ZIP_OP_COMBINE), is_shared ? "shared memory" : "message passing") == 0);
      all_operations(mailer, add);
    }
    zip_close(&mailer);
  }
  zip_free_method(&add);
  zip_free_addressees(&all);
}

static const Case cases[] = {{"collectives", collectives}, {"printed", printed}, {"exec", exec},
                             {"classes", classes},         {"shared", shared},   {"shared_outside", shared_outside}};

int main(int argc, char** argv) {
  return run_program(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
