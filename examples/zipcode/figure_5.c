/* Figures 5 and 6 of the paper: three mailer hierarchies, of two groups whose processes share memory and of their
 * union. The program asks each mailer to use shared memory; where that is not possible, its operations pass messages.
 * It is one program, with one result, wherever its processes lie.
 *
 *   margay run -n 4 --nodes 2 ./figure_5       two nodes of two processes each
 *   margay run -n 4 ./figure_5                 one node: all three by shared memory */
#include <margay/zipcode.h>

#include <stdio.h>

static void add_ints(void* into, const void* from, int size, int items, void* state) {
  int i;
  (void)size;
  (void)state;
  for (i = 0; i < items; ++i) ((int*)into)[i] += ((const int*)from)[i];
}

/* The mailer of the nodes `first` to `last`; NULL for the others. */
static ZIP_MAILER* open_group(int first, int last) {
  const int me = zip_my_node();
  ZIP_ADDRESSEES* group = NULL;
  ZIP_MAILER* mailer;
  if (me < first || me > last) return NULL;
  if (me == first) group = zip_new_cohort(last - first, first, 33, 1);
  mailer = z_open(group);
  zip_free_addressees(&group);
  zip_use_shared_memory(mailer);
  return mailer;
}

static void report(ZIP_MAILER* mailer, const char* name, Method* add) {
  static const char* const operations[] = {"combine", "fanout", "fanin", "prefix", "sync", "send", "receive"};
  int sum = 1, i;
  if (mailer == NULL) return;
  zip_combine(mailer, &sum, add, (int)sizeof sum, 1);
  if (zip_rank(mailer) == 0) {
    printf("%s: %d processes\n", name, sum);
    for (i = 0; i < ZIP_OPERATIONS; ++i) printf("  %-8s by %s\n", operations[i], zip_operation_name(mailer, i));
    fflush(stdout);
  }
  zip_sync(mailer);
}

int main(void) {
  ZIP_MAILER *one, *both, *two;
  Method* add;
  int half, nodes;
  if (Zip_nohost_init() != 0) return 1;
  nodes = zip_nodes();
  half = (nodes + 1) / 2;
  add = zip_new_method(add_ints, NULL);
  one = open_group(0, half - 1);
  two = open_group(half, nodes - 1);
  both = open_group(0, nodes - 1);
  /* One after another, for the order of the lines. */
  report(one, "group 1", add);
  zip_sync(both);
  report(two, "group 2", add);
  zip_sync(both);
  report(both, "group 1 and group 2", add);
  if (one != NULL) zip_close(&one);
  if (two != NULL) zip_close(&two);
  zip_close(&both);
  zip_free_method(&add);
  zip_exit();
  return 0;
}
