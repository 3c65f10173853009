/* Cached methods and attributes of mailers: zipcode_caching CASE... */
#include "cases.h"

static void add_ints(void* into, const void* from, int size, int items, void* state) {
  (void)size, (void)state;
  while (items-- > 0) ((int*)into)[items] += ((const int*)from)[items];
}
static void increment(void* data, int length, void* state) {
  NEED(length == (int)sizeof(int));
  ++*(int*)data;
  ++*(int*)state;
}

/* Replacements that count their calls, and use the operation by messages. */
static int runs_of[ZIP_OPERATIONS];
static int counting_combine(ZIP_MAILER* mailer, void* buffer, Method* method, int size, int items, void* state) {
  ++*(int*)state;
  return zip_combine(mailer, buffer, method, size, items);
}
static int counting_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig, void* state) {
  ++*(int*)state;
  return zip_fanout(mailer, data, length, orig);
}
static int counting_fanin(ZIP_MAILER* mailer, int dest, void* buffer, Method* method, int size, int items,
                          void* state) {
  ++*(int*)state;
  return zip_fanin(mailer, dest, buffer, method, size, items);
}
static int counting_prefix(ZIP_MAILER* mailer, void* buffer, Method* method, int size, int items, void* state) {
  ++*(int*)state;
  return zip_prefix(mailer, buffer, method, size, items);
}
static int counting_sync(ZIP_MAILER* mailer, void* state) {
  ++*(int*)state;
  return zip_sync(mailer);
}
static void counting_send(ZIP_MAILER* mailer, char* letter, int rank, void* state) {
  ++*(int*)state;
  z_send(mailer, letter, rank);
}
static int blocked_receives = 0;
static char* counting_recv(ZIP_MAILER* mailer, int rank, int blocked, void* state) {
  ++*(int*)state;
  blocked_receives += blocked;
  return blocked ? z_recvb(mailer, rank) : z_recv(mailer, rank);
}
static Zip_function* const replacements[ZIP_OPERATIONS] = {
    (Zip_function*)counting_combine, (Zip_function*)counting_fanout, (Zip_function*)counting_fanin,
    (Zip_function*)counting_prefix,  (Zip_function*)counting_sync,   (Zip_function*)counting_send,
    (Zip_function*)counting_recv};

/* Uses each operation once, and the two receives: by a poll of a letter that is there, and by a wait. */
static void use_all(ZIP_MAILER* mailer, Method* add) {
  const int rank = zip_rank(mailer), size = zip_size(mailer), last = size - 1;
  int one = 1, length = (int)sizeof one;
  void* data = rank == last ? &one : NULL;
  char* letter;
  NEED(z_combine(mailer, &one, add, (int)sizeof one, 1) == 0 && one == size);
  NEED(z_fanout(mailer, &data, &length, last) == 0 && *(int*)data == size);
  if (rank != last) free(data);
  one = 1;
  NEED(z_fanin(mailer, last, &one, add, (int)sizeof one, 1) == 0);
  if (rank == last) NEED(one == size);
  one = 1;
  NEED(z_prefix(mailer, &one, add, (int)sizeof one, 1) == 0 && one == rank + 1);
  NEED(z_sync(mailer) == 0);
  z_send(mailer, z_new_letter(mailer, 3), (rank + 1) % size);
  letter = z_recvb(mailer, (rank + size - 1) % size);
  NEED(zip_length(mailer, letter) == 3);
  zip_free(mailer, letter);
  NEED(z_recv(mailer, rank) == NULL);
}

/* Each operation is replaced in one mailer and not in another one, and restored. */
static void caching(void) {
  ZIP_MAILER *mailer = open_all(0), *other = open_all(0);
  Method* add = zip_new_method(add_ints, NULL);
  Method* methods[ZIP_OPERATIONS];
  int i, round;
  for (i = 0; i < ZIP_OPERATIONS; ++i) {
    methods[i] = zip_new_function_method(replacements[i], &runs_of[i]);
    NEED(strcmp(zip_operation_name(mailer, i), "message passing") == 0);
    NEED(zip_cache_method(mailer, i, methods[i], i % 2 == 0 ? "counted" : NULL) == 0);
    NEED(strcmp(zip_operation_name(mailer, i), i % 2 == 0 ? "counted" : "a method of the program") == 0);
    NEED(strcmp(zip_operation_name(other, i), "message passing") == 0);
  }
  for (round = 1; round <= 3; ++round) {
    use_all(mailer, add);
    use_all(other, add);
    for (i = 0; i < ZIP_OPERATIONS; ++i) NEED(runs_of[i] == (i == ZIP_OP_RECV ? 2 * round : round));
    NEED(blocked_receives == round);
  }
  for (i = 0; i < ZIP_OPERATIONS; ++i) {
    NEED(zip_cache_method(mailer, i, NULL, NULL) == 0);
    NEED(strcmp(zip_operation_name(mailer, i), "message passing") == 0);
  }
  use_all(mailer, add);
  for (i = 0; i < ZIP_OPERATIONS; ++i) NEED(runs_of[i] == (i == ZIP_OP_RECV ? 6 : 3));
  zip_close(&mailer);
  zip_close(&other);
  zip_free_method(&add);
  for (i = 0; i < ZIP_OPERATIONS; ++i) zip_free_method(&methods[i]);
}

/* A fanout_exec uses the cached fan-out, and runs its method at each process after it. */
static int failing_fanout(ZIP_MAILER* mailer, void** data, int* length, int orig, void* state) {
  (void)mailer, (void)data, (void)length, (void)orig, (void)state;
  return 5;
}
static void cached_exec(void) {
  ZIP_MAILER* mailer = open_all(0);
  int fanouts = 0, runs = 0, root;
  Method* fanout = zip_new_function_method((Zip_function*)counting_fanout, &fanouts);
  Method* failing = zip_new_function_method((Zip_function*)failing_fanout, NULL);
  Method* method = zip_new_method(increment, &runs);
  const int rank = zip_rank(mailer), size = zip_size(mailer);
  NEED(zip_cache_method(mailer, ZIP_OP_FANOUT, fanout, "counted") == 0);
  for (root = 0; root < size; ++root) {
    int value = 100 + root, length = (int)sizeof value;
    void* data = rank == root ? &value : NULL;
    NEED(z_fanout_exec(mailer, &data, &length, method, root) == 0);
    NEED(fanouts == root + 1 && runs == root + 1);
    NEED(length == (int)sizeof value && *(int*)data == 101 + root);
    if (rank != root) free(data);
  }
  {
    int value = 1, length = (int)sizeof value;
    void* data = &value;
    NEED(zip_cache_method(mailer, ZIP_OP_FANOUT, failing, "failing") == 0);
    NEED(z_fanout_exec(mailer, &data, &length, method, 0) == 5 && runs == size && value == 1);
  }
  zip_free_method(&fanout);
  zip_free_method(&failing);
  zip_free_method(&method);
  zip_close(&mailer);
}

static int deleted = 0;
static void delete_value(ZIP_MAILER* mailer, int key, void* value, void* extra) {
  NEED(extra == &deleted && key >= 0 && zip_size(mailer) >= 1);
  deleted += *(int*)value;
}

static void attributes(void) {
  ZIP_MAILER *mailer = open_all(0), *other = open_all(0);
  int one = 1, ten = 10, hundred = 100;
  void* value = NULL;
  const int key = zip_new_key(delete_value, &deleted), plain = zip_new_key(NULL, NULL);
  deleted = 0;
  NEED(zip_attribute(mailer, key, &value) == 0 && value == NULL);
  NEED(zip_set_attribute(mailer, key, &one) == 0 && zip_set_attribute(mailer, plain, &ten) == 0);
  NEED(zip_attribute(mailer, key, &value) == 1 && value == &one);
  NEED(zip_attribute(other, key, &value) == 0);
  NEED(zip_set_attribute(mailer, key, &ten) == 0 && deleted == 1);
  NEED(zip_set_attribute(other, key, &hundred) == 0);
  NEED(zip_delete_attribute(other, key) == 0 && deleted == 101);
  zip_close(&mailer);
  NEED(deleted == 111);
  zip_close(&other);
  NEED(deleted == 111);
}

static const Case cases[] = {{"caching", caching}, {"cached_exec", cached_exec}, {"attributes", attributes}};

int main(int argc, char** argv) {
  return run_program(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
