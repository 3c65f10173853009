/* Errors of Zipcode: zipcode_errors CASE... The handler keeps the message; a case of one word ends the job by it. */
#include "cases.h"

static char said[1000];
static void keep(const char* message) {
  strncpy(said, message, sizeof said - 1);
}

/* The call has reported an error with these words. */
static void expect_said(const char* words, int line) {
  if (strstr(said, words) == NULL) {
    printf("line %d: expected \"%s\", not \"%s\"\n", line, words, said);
    ++failures;
  }
  said[0] = '\0';
}
#define SAID(words) expect_said(words, __LINE__)

static void add(void* into, const void* from, int size, int items, void* state) {
  (void)size, (void)items, (void)state;
  *(int*)into += *(const int*)from;
}

static ZIP_MAILER* open_alone(void) {
  ZIP_ADDRESSEES* alone = zip_new_cohort(0, 0, 7, 1);
  ZIP_MAILER* mailer = z_open(alone);
  zip_free_addressees(&alone);
  return mailer;
}

static void group_errors(void) {
  const int nodes = zip_nodes();
  Zip_process twice[2] = {{0, 1}, {0, 2}}, nowhere = {99, 0};
  ZIP_ADDRESSEES* all = zip_new_cohort(nodes, 0, 7, 0);
  int ranks[2] = {0, 0};
  NEED(zip_new_cohort(256, COHORT_FIRST_NODE, 33, 1) == NULL);
  SAID("zip_new_cohort: a cohort of 256 processes, but the job has");
  NEED(zip_new_cohort(0, 0, 0, 0) == NULL);
  SAID("use a positive number");
  NEED(zip_new_cohort(1, -1, 0, 0) == NULL);
  SAID("node_bias -1 is negative");
  NEED(zip_new_addressees(2, twice) == NULL);
  SAID("node 0 is named twice");
  NEED(zip_new_addressees(1, &nowhere) == NULL);
  SAID("process 0 is on node 99, but the job has the nodes 0 to");
  NEED(zip_include(all, 2, ranks) == NULL);
  SAID("rank 0 is named twice");
  ranks[0] = nodes;
  NEED(zip_exclude(all, 1, ranks) == NULL);
  SAID("the group has no rank");
  NEED(zip_addressees_size(NULL) == -1);
  SAID("the addressee list is NULL");
  NEED(zip_spawn("", all) != 0);
  SAID("zip_spawn: the program's name is empty");
  NEED(zip_kill(NULL) != 0);
  SAID("zip_kill: the addressee list is NULL");
  zip_free_addressees(&all);
}

static void mailer_errors(void) {
  ZIP_ADDRESSEES* alone = zip_new_cohort(0, 0, 7, 1);
  ZIP_MAILER *mailer = open_alone(), *closed = mailer, *grid, *other;
  int P = 2, Q = 3;
  zip_close(&closed);
  NEED(zip_size(mailer) == -1);
  SAID("zip_size: the mailer is closed, or was never opened");
  NEED(zip_close(&mailer) != 0);
  SAID("the mailer is closed");
  NEED(zip_close(NULL) != 0);
  SAID("the address of the mailer is NULL");
  NEED(g2_grid_open(&P, &Q, alone) == NULL);
  SAID(
      "g2_grid_open: a grid of 2 x 3 needs a group of as many processes, or of one more for a Postmaster outside; this "
      "one has 1");
  P = -1;
  NEED(g2_grid_open(&P, &Q, alone) == NULL);
  SAID("a grid of -1 x 3");
  NEED(g1_grid_open(NULL, alone) == NULL);
  SAID("the address of an extent is NULL");
  NEED(zip_open(77, alone) == NULL);
  SAID("unknown class 77");
  P = Q = 1;
  grid = g2_grid_open(&P, &Q, alone);
  NEED(g3_PQ_plane(grid) == NULL);
  SAID("g3_PQ_plane: the mailer is of class G2, not G3");
  mailer = g2_row(grid);
  NEED(zip_close(&mailer) != 0);
  SAID("the mailer is a child; close its parent");
  NEED(zip_shape(grid, ZIP_G2, 2) == -1);
  SAID("no dimension 2");
  zip_close(&grid);
  NEED(zip_rank(mailer) == -1);
  SAID("the mailer is closed");
  NEED(z_open_with(alone, 5) == NULL);
  SAID("the mailer would use the context_ids 5 to 6; those of the program are 32768 to 65535");
  other = z_open_with(alone, 40000);
  NEED(g2_grid_open_with(1, 1, alone, 39998) == NULL);
  SAID("another open mailer uses context_id 40000");
  NEED(z_open_with(NULL, 40000) == NULL);
  SAID("all members pass it");
  zip_close(&other);
  NEED(zip_context_ids(0) == -1);
  SAID("unknown class 0");
  zip_free_addressees(&alone);
}

static void letter_errors(void) {
  ZIP_ADDRESSEES* alone = zip_new_cohort(0, 0, 7, 1);
  ZIP_MAILER *mailer = open_alone(), *other = open_alone(), *tagged = l_open(alone), *short_tagged = y_open(alone);
  char *letter = z_new_letter(mailer, 10), *mistaken;
  NEED(z_new_letter(mailer, -1) == NULL);
  SAID("a letter of -1 bytes");
  NEED(l_new_letter(mailer, 10) == NULL);
  SAID("l_new_letter: the mailer is of class Z, not L");
  z_free_letter(other, letter);
  SAID("the letter is of another mailer");
  z_send(other, letter, 0);
  SAID("z_send: the letter is of another mailer");
  z_send(mailer, letter, 1);
  SAID("the mailer has no rank 1; its ranks are 0 to 0");
  z_send(mailer, letter, ZIP_POSTMASTER);
  SAID("the mailer has no Postmaster outside");
  z_send(mailer, letter, 0);
  NEED(said[0] == '\0');
  z_send(mailer, letter, 0);
  SAID("it was sent or freed");
  letter = z_recvb(mailer, 0);
  z_free_letter(mailer, letter);
  NEED(said[0] == '\0');
  z_free_letter(mailer, letter);
  SAID("z_free_letter: the program has no letter at 0x");
  zip_free(mailer, NULL);
  SAID("the program has no letter at");
  NEED(z_recvb(mailer, 5) == NULL);
  SAID("z_recvb: the mailer has no rank 5");
  letter = zip_malloc(mailer, 16);
  letter[-1] = 99;
  mistaken = letter;
  z_send(mailer, mistaken, 0);
  SAID("the program has overwritten the letter's envelope: its return postage is");
  letter[-1] = 0;
  zip_free(mailer, letter);
  letter = l_new_letter(tagged, 1);
  l_send(tagged, letter, 5, 7, 1);
  SAID("l_send: the mailer has no process {5, 7}");
  l_send(tagged, letter, zip_my_node(), 7, 4294967296L);
  SAID("invalid tag 4294967296; use -2147483648 to 2147483647, except ZIP_ANY");
  l_send(tagged, letter, zip_my_node(), 7, ZIP_ANY);
  SAID("invalid tag -1");
  NEED(l_sender(tagged, letter, NULL, NULL, NULL) != 0);
  SAID("the letter was made here");
  zip_free(tagged, letter);
  letter = y_new_letter(short_tagged, 1);
  y_send(short_tagged, letter, zip_my_node(), 7, 40000);
  SAID("y_send: invalid tag 40000; use 0 to 32767");
  zip_free(NULL, letter); /* of any mailer */
  NEED(said[0] == '\0');
  zip_close(&mailer);
  zip_close(&other);
  zip_close(&tagged);
  zip_close(&short_tagged);
  zip_free_addressees(&alone);
}

static int at_nobody(int rank, int size, const int* name, void* po_box, void* extra) {
  (void)rank, (void)size, (void)name, (void)po_box, (void)extra;
  return -1;
}
static int first_two(int p, int q, void* extra) {
  (void)extra;
  return p == q ? 0 : 1;
}
static int negative(int p, int q, void* extra) {
  (void)p, (void)q, (void)extra;
  return -3;
}

static void caching_errors(void) {
  ZIP_ADDRESSEES* alone = zip_new_cohort(0, 0, 7, 1);
  ZIP_MAILER *mailer = open_alone(), *short_tagged = y_open(alone);
  Method *combine = zip_new_method(add, NULL), *function = zip_new_function_method((Zip_function*)at_nobody, NULL);
  int count;
  NEED(zip_cache_method(mailer, 99, function, "x") != 0);
  SAID("unknown operation 99");
  NEED(zip_cache_method(mailer, ZIP_OP_SYNC, combine, "x") != 0);
  SAID("zip_cache_method:");
  NEED(zip_cache_method(short_tagged, ZIP_OP_SEND, function, "x") != 0);
  SAID("sends and receives of class Y are not replaced");
  for (count = ZIP_OP_COMBINE; count <= ZIP_OP_SYNC; ++count) {
    NEED(zip_cache_method(short_tagged, count, function, "x") != 0);
    SAID("zip_cache_method: class Y has no collective operations");
  }
  NEED(zip_use_shared_memory(short_tagged) != 0);
  SAID("zip_use_shared_memory: class Y has no collective operations");
  NEED(strcmp(zip_operation_name(short_tagged, ZIP_OP_COMBINE), "message passing") == 0);
  zip_free_method(&combine);
  zip_free_method(&function);
  zip_close(&mailer);
  zip_close(&short_tagged);
  zip_free_addressees(&alone);
}

static void operation_errors(void) {
  ZIP_ADDRESSEES* alone = zip_new_cohort(0, 0, 7, 1);
  ZIP_MAILER *mailer = open_alone(), *short_tagged = y_open(alone), *own, *grid;
  Method* combine = zip_new_method(add, NULL);
  Zip_mail_class lost = {"lost", 2, 4, at_nobody, at_nobody, NULL};
  char* letter;
  int value = 1, name[2] = {4, 5}, length = -1, P = 1, Q = 1, count;
  void *data = NULL, *small = &value;
  NEED(y_recv(short_tagged, 3) == NULL && said[0] == '\0');
  NEED(zip_sync(short_tagged) != 0);
  SAID("zip_sync: class Y has no collective operations");
  NEED(z_combine(mailer, &value, NULL, 4, 1) != 0);
  SAID("z_combine: the combine method is NULL");
  NEED(z_combine(mailer, &value, combine, -4, 1) != 0);
  SAID("the buffer has 1 items of -4 bytes");
  NEED(z_combine(mailer, NULL, combine, 4, 1) != 0);
  SAID("the buffer is NULL");
  NEED(z_fanout(mailer, &data, &length, 0) != 0);
  SAID("the length is -1");
  NEED(z_fanout(mailer, NULL, &length, 0) != 0);
  SAID("data or length is NULL");
  NEED(z_fanin(mailer, 3, &value, combine, 4, 1) != 0);
  SAID("z_fanin: the mailer has no rank 3");
  NEED(z_fanout_exec(mailer, &small, &length, combine, 0) != 0);
  SAID("z_fanout_exec:");
  NEED(zip_set_attribute(mailer, 7, NULL) != 0);
  SAID("unknown key 7");
  lost.names = 0;
  NEED(zip_register_class(&lost) == -1);
  SAID("class \"lost\" has names of 0 ints; use 1 to 8");
  lost.names = 2;
  lost.box_bytes = 33;
  NEED(zip_register_class(&lost) == -1);
  SAID("has a PO Box of 33 bytes; use 0 to 32");
  lost.box_bytes = 4;
  own = zip_open(zip_register_class(&lost), alone);
  letter = zip_malloc(own, 1);
  zip_send(own, letter, name);
  SAID("zip_send: class lost has no process with the name (4, 5) here");
  zip_free(own, letter);
  NEED(zip_recv(mailer, name) == NULL);
  SAID("the mailer is of class Z, which has functions of its own");
  grid = g2_grid_open(&P, &Q, alone);
  letter = zip_malloc(grid, 1);
  g2_send(grid, letter, 1, 0);
  SAID("g2_send: the grid of shape (1, 1) has no process (1, 0)");
  zip_free(grid, letter);
  NEED(g2_subgrid_open(grid, negative, NULL, &count) == NULL);
  SAID("select_fn returns -3 for rank 0");
  NEED(g2_subgrid_open(grid, NULL, NULL, &count) == NULL);
  SAID("select_fn or nsubgrids is NULL");
  zip_close(&grid);
  grid = g2_grid_open_with(1, 1, alone, 50000);
  NEED(grid != NULL);
  zip_close(&grid);
  zip_close(&own);
  zip_close(&mailer);
  zip_close(&short_tagged);
  zip_free_method(&combine);
  zip_free_addressees(&alone);
}

/* Between two processes: buffers of other lengths, too little room, another class. The last error ends the job. */
static void between(void) {
  ZIP_MAILER* pair = open_all(0);
  Method* combine = zip_new_method(add, NULL);
  const int rank = zip_rank(pair);
  int values[2] = {1, 2}, length = 8, P;
  void* data = values;
  /* The receiver has too little room, but the operation ends. */
  if (rank == 1) length = 4;
  NEED((z_fanout(pair, &data, &length, 0) == 0) == (rank == 0));
  if (rank == 1) SAID("z_fanout: the data have 8 bytes, but *length is 4");
  NEED((z_fanin(pair, 0, values, combine, 4, 1 + rank) == 0) == (rank == 1));
  if (rank == 0) SAID("z_fanin: rank 1 has a buffer of 8 bytes, this process one of 4");
  NEED(zip_sync(pair) == 0);
  zip_free_method(&combine);
  if (rank == 0) {
    open_all(0);
  } else {
    NEED(g1_grid_open(&P, NULL) == NULL);
    if (failures == 0 && strstr(said, "of class G1, but the Postmaster (rank 0) one of class Z") != NULL)
      printf("between: right\n");
    fflush(stdout);
    zip_set_error_handler(NULL);
    g1_grid_open(NULL, NULL);
  }
}

/* Operations by shared memory: buffers that differ between the members are an error at all of them, as many times as it
 * happens, and the next operation is right. Each row has the first member's buffer and that of the others. */
static void shared_errors(void) {
  static const struct Row {
    int size, items, other_size, other_items;
  } rows[] = {{4, 1, 4, 2},        {4, 2, 4, 1},     {4, 0, 4, 1},    {4, 1, 4, 0},
              {4, 9000, 4, 17000}, {40000, 1, 4, 1}, {4, 1, 40000, 1}};
  static int buffer[20000];
  ZIP_MAILER* mailer = open_all(0);
  Method* combine = zip_new_method(add, NULL);
  const int rank = zip_rank(mailer), size = zip_size(mailer);
  int operation, value;
  size_t i;
  NEED((zip_use_shared_memory(mailer) == 0) == zip_on_one_node(mailer));
  if (!zip_on_one_node(mailer) || size == 1) {
    zip_close(&mailer);
    zip_free_method(&combine);
    return;
  }
  for (operation = 0; operation < 3; ++operation) {
    for (i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
      const int bytes = rank == 0 ? rows[i].size : rows[i].other_size,
                items = rank == 0 ? rows[i].items : rows[i].other_items;
      if (operation == 0) NEED(zip_combine(mailer, buffer, combine, bytes, items) != 0);
      if (operation == 1) NEED(zip_fanin(mailer, size - 1, buffer, combine, bytes, items) != 0);
      if (operation == 2) NEED(zip_prefix(mailer, buffer, combine, bytes, items) != 0);
      SAID("has a buffer of");
      value = 1;
      NEED(zip_combine(mailer, &value, combine, (int)sizeof value, 1) == 0 && value == size && said[0] == '\0');
    }
  }
  zip_free_method(&combine);
  zip_close(&mailer);
}

/* All context_ids in use: an error at each member, and the mailer can be opened when one is closed. */
static void exhausted(void) {
  enum { kMost = 16383 };
  static ZIP_MAILER* mailers[kMost + 1];
  ZIP_ADDRESSEES* alone = zip_new_cohort(0, 0, 7, 1);
  int i;
  for (i = 0; i < kMost; ++i) {
    mailers[i] = z_open(alone);
    if (mailers[i] == NULL) break;
  }
  NEED(i == kMost);
  NEED(z_open(alone) == NULL);
  SAID("z_open: the members of the group do not have 2 successive context_ids left of 32767");
  NEED(zip_close(&mailers[100]) == 0);
  /* The Postmaster General learns it before the next opening. */
  mailers[100] = z_open(alone);
  NEED(mailers[100] != NULL && said[0] == '\0');
  zip_free_addressees(&alone);
}

static int second_alone(int p, int q, void* extra) {
  (void)p, (void)extra;
  return q;
}

/* A subgrid whose processes have too few context_ids: the one before it is open all the same. */
static void subgrid_exhausted(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  int P = 1, Q = 2, count = 0, i;
  ZIP_MAILER *grid = g2_grid_open(&P, &Q, all), **subs;
  if (all == NULL) {
    NEED(g2_grid_open(&P, &Q, NULL) == NULL);
    SAID("g2_grid_open: the members of the group do not have 6 successive context_ids left of 32767");
  } else {
    /* 6 of the grid; 7 are left, for one G2 mailer. */
    for (i = 0; i < (32767 - 6 - 7) / 2; ++i) NEED(open_alone() != NULL);
    subs = g2_subgrid_open(grid, second_alone, NULL, &count);
    SAID("g2_subgrid_open: the members of the group do not have 6 successive context_ids left of 32767");
    NEED(subs != NULL && count == 2 && subs[0] != NULL && subs[1] == NULL);
    if (subs != NULL) NEED(zip_size(subs[0]) == 1 && zip_sync(subs[0]) == 0 && zip_close(&subs[0]) == 0);
    free(subs);
  }
  zip_free_addressees(&all);
  zip_close(&grid);
}

static void rectangle(void) {
  ZIP_ADDRESSEES* all = everyone(0);
  int P = 2, Q = 2, count = 0;
  ZIP_MAILER* grid = g2_grid_open(&P, &Q, all);
  if (all != NULL) {
    NEED(g2_subgrid_open(grid, first_two, NULL, &count) == NULL && count == 0);
    SAID("subgrid 0 of 2 processes is not a rectangle");
  }
  zip_free_addressees(&all);
  zip_close(&grid);
}

/* --- Errors that end the job. --- */

static void default_handler(void) {
  zip_set_error_handler(NULL);
  if (zip_my_node() == 0) zip_free(NULL, said);
  zip_exit();
}

/* All wait for letters that nobody sends. */
static void starve(void) {
  ZIP_MAILER* mailer = open_all(0);
  zip_set_error_handler(NULL);
  zip_free(mailer, z_recvb(mailer, (zip_rank(mailer) + 1) % zip_size(mailer)));
}

/* Two Postmasters, each a member of the other's group, in opposite orders. */
static void crossed(void) {
  const int me = zip_my_node();
  Zip_process both[2] = {{0, 1}, {1, 1}};
  ZIP_ADDRESSEES* group;
  both[0].node = me;
  both[1].node = 1 - me;
  group = zip_new_addressees(2, both);
  zip_set_error_handler(NULL);
  z_open(group);
  z_open(NULL);
}

static void twice(void) {
  NEED(Zip_init() != 0);
  SAID("Zip_init: Zipcode has begun already");
}

static const Case cases[] = {{"group_errors", group_errors},
                             {"mailer_errors", mailer_errors},
                             {"letter_errors", letter_errors},
                             {"caching_errors", caching_errors},
                             {"operation_errors", operation_errors},
                             {"between", between},
                             {"shared_errors", shared_errors},
                             {"exhausted", exhausted},
                             {"rectangle", rectangle},
                             {"subgrid_exhausted", subgrid_exhausted},
                             {"default_handler", default_handler},
                             {"starve", starve},
                             {"crossed", crossed},
                             {"twice", twice}};

int main(int argc, char** argv) {
  int result;
  if (argc == 2 && strcmp(argv[1], "before") == 0) {
    zip_set_error_handler(keep);
    NEED(zip_my_node() == -1);
    SAID("zip_my_node: Zipcode has not begun in this thread, or has ended; call Zip_init() first");
    zip_exit();
    SAID("zip_exit: Zipcode has not begun");
    printf("before: right\n");
    return failures != 0;
  }
  if (argc == 2 && strcmp(argv[1], "forms") == 0) {
    const char* const rank = getenv("PMI_RANK");
    result = (rank != NULL && strcmp(rank, "1") == 0 ? Zip_global_init() : Zip_init()) != 0;
    zip_exit();
    return result;
  }
  NEED(Zip_nohost_init() == 0);
  zip_set_error_handler(keep);
  result = run_cases(argc, argv, cases, sizeof cases / sizeof cases[0]);
  zip_exit();
  return result;
}
