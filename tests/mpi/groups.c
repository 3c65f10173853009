// Tests of groups: every constructor, comparison, translation of ranks, empty groups, and wrong arguments.
// ranks: 1 4
// reference: 4
#include "check.h"

#define FAILS(expected_class, call)                                                                                \
  do {                                                                                                             \
    const int code_ = (call);                                                                                      \
    CHECK(class_of(code_) == (expected_class), "%s: class %d, expected " #expected_class, #call, class_of(code_)); \
  } while (0)

static MPI_Group world;
static int size;

// Compares a group with the expected world ranks, and frees it.
static void expect(const char* what, MPI_Group group, int count, const int* ranks) {
  int members = -1, rank = -1, mine = MPI_UNDEFINED;
  MPI_Group_size(group, &members);
  MPI_Group_rank(group, &rank);
  CHECK(members == count, "%s: %d members, expected %d", what, members, count);
  for (int i = 0; i < count && i < members; ++i) {
    int there = -1;
    MPI_Group_translate_ranks(group, 1, &i, world, &there);
    CHECK(there == ranks[i], "%s: member %d is %d, expected %d", what, i, there, ranks[i]);
    if (ranks[i] == world_rank()) mine = i;
  }
  CHECK(rank == mine, "%s: I am %d, expected %d", what, rank, mine);
  MPI_Group_free(&group);
  CHECK(group == MPI_GROUP_NULL, "%s: Group_free left the handle", what);
}

static int compared(MPI_Group one, MPI_Group other) {
  int result = -1;
  MPI_Group_compare(one, other, &result);
  return result;
}

static void choose(void) {
  MPI_Group made;
  const int last = size - 1;
  int backwards[8], rest[8];
  for (int i = 0; i < size; ++i) backwards[i] = last - i;
  MPI_Group_incl(world, size, backwards, &made);
  CHECK(compared(made, world) == (size == 1 ? MPI_IDENT : MPI_SIMILAR), "backwards");
  expect("backwards", made, size, backwards);
  MPI_Group_excl(world, 1, &last, &made);
  for (int i = 0; i < last; ++i) rest[i] = i;
  CHECK(compared(made, world) == MPI_UNEQUAL, "all but the last");
  expect("all but the last", made, last, rest);
  MPI_Group_excl(world, 0, NULL, &made);
  CHECK(compared(made, world) == MPI_IDENT, "all but none");
  MPI_Group_free(&made);
  MPI_Group_incl(world, 0, NULL, &made);
  CHECK(made == MPI_GROUP_EMPTY, "no member: not MPI_GROUP_EMPTY");
  int ranges[2][3] = {{last, last / 2 + 1, -1}, {0, last / 2, 1}};
  int halves[8], count = 0;
  for (int i = last; i > last / 2; --i) halves[count++] = i;
  for (int i = 0; i <= last / 2; ++i) halves[count++] = i;
  MPI_Group_range_incl(world, size == 1 ? 0 : 2, ranges, &made);
  expect("ranges", made, size == 1 ? 0 : size, halves);
  int even[1][3] = {{0, last, 2}};
  MPI_Group_range_excl(world, 1, even, &made);
  int odd[8], odds = 0;
  for (int i = 1; i < size; i += 2) odd[odds++] = i;
  expect("odd ranks", made, odds, odd);
}

static void combine(void) {
  // Of n ranks, those below and those above a third overlap in the middle.
  const int low = 2 * size / 3, high = size / 3;
  int all[8];
  for (int i = 0; i < size; ++i) all[i] = i;
  MPI_Group below, above, made;
  MPI_Group_incl(world, low, all, &below);
  MPI_Group_incl(world, size - high, all + high, &above);
  MPI_Group_union(above, below, &made);
  int joined[8], count = 0;
  for (int i = high; i < size; ++i) joined[count++] = i;
  for (int i = 0; i < high; ++i) joined[count++] = i;
  expect("union", made, size, joined);
  MPI_Group_intersection(below, above, &made);
  expect("intersection", made, low > high ? low - high : 0, all + high);
  MPI_Group_difference(below, above, &made);
  expect("difference", made, high < low ? high : low, all);
  MPI_Group_difference(below, below, &made);
  CHECK(made == MPI_GROUP_EMPTY, "a group without itself is not MPI_GROUP_EMPTY");
  MPI_Group_union(MPI_GROUP_EMPTY, above, &made);
  CHECK(compared(made, above) == MPI_IDENT, "union with the empty group");
  MPI_Group_free(&made);
  MPI_Group_intersection(MPI_GROUP_EMPTY, above, &made);
  CHECK(compared(made, MPI_GROUP_EMPTY) == MPI_IDENT, "intersection with the empty group");
  const int none = MPI_PROC_NULL;
  int there = 0;
  MPI_Group_translate_ranks(above, 1, &none, world, &there);
  CHECK(there == MPI_PROC_NULL, "MPI_PROC_NULL became %d", there);
  const int first = 0;
  MPI_Group_translate_ranks(above, 1, &first, MPI_GROUP_EMPTY, &there);
  CHECK(there == MPI_UNDEFINED, "in the empty group: %d", there);
  if (below != MPI_GROUP_EMPTY) MPI_Group_free(&below);
  MPI_Group_free(&above);
}

// A group remains valid after the objects from which it was created are freed.
static void outlive(void) {
  MPI_Comm comm;
  MPI_Group group, same;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_group(comm, &group);
  MPI_Comm_free(&comm);
  CHECK(compared(group, world) == MPI_IDENT, "the group of a freed communicator");
  MPI_Group_union(group, group, &same);
  MPI_Group_free(&group);
  CHECK(compared(same, world) == MPI_IDENT, "a group made of a freed one");
  MPI_Group_free(&same);
  for (int i = 0; i < 3000; ++i) {
    MPI_Comm_group(MPI_COMM_SELF, &group);
    MPI_Group_union(group, world, &same);
    MPI_Group_free(&group);
    MPI_Group_free(&same);
  }
}

static void wrong(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Group made = MPI_GROUP_NULL, null = MPI_GROUP_NULL;
  int value = 0;
  const int outside[1] = {size}, negative[1] = {-2};
  FAILS(MPI_ERR_GROUP, MPI_Group_size(MPI_GROUP_NULL, &value));
  FAILS(MPI_ERR_GROUP, MPI_Group_free(&null));
  FAILS(MPI_ERR_GROUP, MPI_Group_union(world, MPI_GROUP_NULL, &made));
  FAILS(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_SELF, MPI_GROUP_NULL, &(MPI_Comm){0}));
  FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 1, outside, &made));
  FAILS(MPI_ERR_RANK, MPI_Group_excl(world, 1, outside, &made));
  FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 1, negative, &made));
  FAILS(MPI_ERR_ARG, MPI_Group_incl(world, -1, outside, &made));
  FAILS(MPI_ERR_RANK, MPI_Group_translate_ranks(world, 1, outside, world, &value));
  int zero[1][3] = {{0, 0, 0}}, beyond[1][3] = {{0, size, 1}}, twice[2][3] = {{0, 0, 1}, {0, 0, 1}};
  FAILS(MPI_ERR_ARG, MPI_Group_range_incl(world, 1, zero, &made));
  FAILS(MPI_ERR_ARG, MPI_Group_range_incl(world, 1, beyond, &made));
  FAILS(MPI_ERR_ARG, MPI_Group_range_excl(world, 2, twice, &made));
  if (on_margay()) {  // MPICH 4.0.2 accepts these
    const int doubled[2] = {0, 0};
    FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 2, doubled, &made));
    FAILS(MPI_ERR_RANK, MPI_Group_excl(world, 2, doubled, &made));
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_WORLD, &value));
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_group(MPI_COMM_WORLD, &made));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_merge(MPI_COMM_SELF, 0, &(MPI_Comm){0}));
    MPI_Group freed, kept;
    MPI_Comm_group(MPI_COMM_WORLD, &freed);
    kept = freed;
    MPI_Group_free(&freed);
    FAILS(MPI_ERR_GROUP, MPI_Group_size(kept, &value));
    FAILS(MPI_ERR_ARG, MPI_Group_incl(world, 1, NULL, &made));
  }
  CHECK(made == MPI_GROUP_NULL && value == 0, "a call that failed changed something");
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  size = world_size();
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  choose();
  combine();
  outlive();
  wrong();
  MPI_Group_free(&world);
  return suite_end("groups");
}
