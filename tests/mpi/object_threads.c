// Tests with MPI_THREAD_MULTIPLE: datatypes, operations, groups, communicators and topologies. Four threads of a rank
// call each class's functions at once.
// ranks: 2
// timeout: 60
// sanitized: shm epoll
#include "class_threads.h"

enum { kRounds = 24, kInts = 16 };

// Every second int of 2 * kInts.
static MPI_Datatype every_second(void) {
  MPI_Datatype type;
  MPI_Type_vector(kInts, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

static void fill(int* data, int value) {
  for (int i = 0; i < 2 * kInts; ++i) data[i] = i % 2 == 0 ? value + i : -1;
}
static int holds(const int* data, int value) {
  for (int i = 0; i < 2 * kInts; ++i)
    if (data[i] != (i % 2 == 0 ? value + i : -1)) return 0;
  return 1;
}

static void exchange(const struct user* me, MPI_Datatype type, int round) {
  int out[2 * kInts], in[2 * kInts];
  MPI_Status status;
  int elements = -1;
  fill(out, 1000 * round + 100 * me->rank + me->self);
  memset(in, 0xff, sizeof in);
  MPI_Sendrecv(out, 1, type, me->other, me->self, in, 1, type, me->other, me->self, me->shared, &status);
  MPI_Get_elements(&status, type, &elements);
  EXPECT(elements == kInts, "%d elements", elements);
  EXPECT(holds(in, 1000 * round + 100 * me->other + me->self), "thread %d, round %d: wrong elements", me->self, round);
}

static void pack_and_unpack(const struct user* me, MPI_Datatype type, int round) {
  char packed[8 * kInts];
  int out[2 * kInts], in[2 * kInts], position = 0, size = 0;
  fill(out, round + me->self);
  memset(in, 0xff, sizeof in);
  MPI_Pack_size(1, type, me->shared, &size);
  EXPECT(size == (int)sizeof(int) * kInts, "packed size %d", size);
  MPI_Pack(out, 1, type, packed, sizeof packed, &position, me->shared);
  size = position;
  position = 0;
  MPI_Unpack(packed, size, &position, in, 1, type, me->shared);
  EXPECT(holds(in, round + me->self), "thread %d, round %d: unpacked wrongly", me->self, round);
}

static void look_into(MPI_Datatype type, int combiner_expected) {
  int integers = 0, addresses = 0, types = 0, combiner = -1, numbers[16];
  MPI_Aint places[8];
  MPI_Datatype inside[8];
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  EXPECT(combiner == combiner_expected, "combiner %d, expected %d", combiner, combiner_expected);
  MPI_Type_get_contents(type, integers, addresses, types, numbers, places, inside);
  for (int i = 0; i < types; ++i) {
    MPI_Type_get_envelope(inside[i], &integers, &addresses, &integers, &combiner);
    if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&inside[i]);
  }
}

// A named type that all threads query, use in messages, and use as a component of their own types.
static MPI_Datatype common_type;

static void make_common(void) {
  common_type = every_second();
  MPI_Type_set_name(common_type, "common");
}
static void free_common(void) {
  MPI_Type_free(&common_type);
}

static void datatypes(const struct user* me) {
  char name[MPI_MAX_OBJECT_NAME];
  for (int round = 0; round < kRounds; ++round) {
    MPI_Datatype vector = every_second(), twin, wide, mixed;
    const int lengths[2] = {1, 2};
    const MPI_Aint places[2] = {0, 512};
    MPI_Aint low = -1, extent = -1;
    int size = -1, length = -1;
    MPI_Type_dup(vector, &twin);
    MPI_Type_free(&vector);
    MPI_Type_create_resized(twin, 0, 256, &wide);
    const MPI_Datatype parts[2] = {wide, common_type};
    MPI_Type_create_struct(2, lengths, places, parts, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Type_get_true_extent(mixed, &low, &extent);
    MPI_Type_size(mixed, &size);
    EXPECT(low == 0 && size == 3 * kInts * (int)sizeof(int), "low %ld, extent %ld, size %d", (long)low, (long)extent,
           size);
    look_into(mixed, MPI_COMBINER_STRUCT);
    MPI_Type_set_name(mixed, me->self % 2 == 0 ? "even" : "odd");
    MPI_Type_get_name(mixed, name, &length);
    EXPECT(strcmp(name, me->self % 2 == 0 ? "even" : "odd") == 0, "name %s", name);
    MPI_Type_get_name(common_type, name, &length);
    EXPECT(strcmp(name, "common") == 0, "name %s", name);
    MPI_Type_free(&wide);
    exchange(me, round % 2 == 0 ? twin : common_type, round);
    pack_and_unpack(me, round % 2 == 0 ? common_type : twin, round);
    MPI_Type_free(&twin);
    MPI_Type_free(&mixed);
  }
}

static void weighted(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += 3 * ((int*)in)[i];
}

static void operations(const struct user* me) {
  for (int round = 0; round < kRounds; ++round) {
    MPI_Op op;
    int commutes = -1, sum = -1;
    int left[3] = {1, 2, round}, right[3] = {10, 20, me->self};
    MPI_Op_create(weighted, 1, &op);
    MPI_Op_commutative(op, &commutes);
    MPI_Reduce_local(left, right, 3, MPI_INT, op);
    EXPECT(commutes == 1 && right[0] == 13 && right[1] == 26 && right[2] == me->self + 3 * round, "%d %d %d", right[0],
           right[1], right[2]);
    const struct {
      double value;
      int index;
    } mine = {me->rank == 1 ? 2.5 : 1.5 + round, me->rank};
    struct {
      double value;
      int index;
    } least = {0, -1};
    MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, me->own);
    EXPECT(least.index == (round <= 1 ? 0 : 1), "the least is rank %d's", least.index);
    MPI_Op_free(&op);
    MPI_Op_create(weighted, 0, &op);
    const int one = me->rank + 1 + me->self;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, op, me->own);
    EXPECT(sum == 3 * (1 + me->self) + 2 + me->self, "reduced to %d", sum);
    MPI_Op_free(&op);
  }
}

static void groups(const struct user* me) {
  for (int round = 0; round < 4 * kRounds; ++round) {
    MPI_Group all, first, rest, again, reversed;
    const int zero = 0, both[2] = {1, 0};
    int range[1][3] = {{1, 0, -1}}, ranks[2] = {-1, -1}, size = -1, result = -1, rank = -1;
    MPI_Comm_group(round % 2 == 0 ? me->shared : me->own, &all);
    MPI_Group_incl(all, 1, &zero, &first);
    MPI_Group_excl(all, 1, &zero, &rest);
    MPI_Group_union(first, rest, &again);
    MPI_Group_compare(all, again, &result);
    EXPECT(result == MPI_IDENT, "the union compares as %d", result);
    MPI_Group_range_incl(all, 1, range, &reversed);
    MPI_Group_translate_ranks(all, 2, both, reversed, ranks);
    EXPECT(ranks[0] == 0 && ranks[1] == 1, "translated to %d %d", ranks[0], ranks[1]);
    MPI_Group_free(&again);
    MPI_Group_intersection(first, rest, &again);
    MPI_Group_size(again, &size);
    MPI_Group_rank(reversed, &rank);
    EXPECT(size == 0 && rank == me->other, "size %d, rank %d", size, rank);
    if (again != MPI_GROUP_EMPTY) MPI_Group_free(&again);
    MPI_Group_free(&reversed);
    MPI_Group_free(&rest);
    MPI_Group_free(&first);
    MPI_Group_free(&all);
  }
}

static void talk(const struct user* me, MPI_Comm comm, int other, const char* what) {
  int out = 10 * me->self + me->rank, in = -1;
  MPI_Sendrecv(&out, 1, MPI_INT, other, 0, &in, 1, MPI_INT, other, 0, comm, MPI_STATUS_IGNORE);
  EXPECT(in == 10 * me->self + me->other, "thread %d, %s: got %d", me->self, what, in);
}

static void bridge(const struct user* me) {
  MPI_Comm inter, merged;
  int is_inter = 0, remote = -1, rank = -1;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, me->shared, me->other, 50 + me->self, &inter);
  MPI_Comm_test_inter(inter, &is_inter);
  MPI_Comm_remote_size(inter, &remote);
  EXPECT(is_inter && remote == 1, "inter %d, remote size %d", is_inter, remote);
  talk(me, inter, 0, "between the groups");
  MPI_Intercomm_merge(inter, me->rank, &merged);
  MPI_Comm_rank(merged, &rank);
  EXPECT(rank == me->rank, "rank %d after the merge", rank);
  talk(me, merged, me->other, "merged");
  MPI_Comm_free(&merged);
  MPI_Comm_free(&inter);
}

static void communicators(const struct user* me) {
  char name[MPI_MAX_OBJECT_NAME];
  for (int round = 0; round < kRounds / 2; ++round) {
    MPI_Comm made, twin;
    MPI_Group group;
    MPI_Request request;
    int length = -1, result = -1;
    MPI_Comm_split(me->own, 0, -me->rank, &made);
    talk(me, made, me->rank, "split");  // in reverse order
    MPI_Comm_set_name(made, "reversed");
    MPI_Comm_get_name(made, name, &length);
    EXPECT(strcmp(name, "reversed") == 0, "name %s", name);
    MPI_Comm_idup(made, &twin, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_compare(made, twin, &result);
    EXPECT(result == MPI_CONGRUENT, "the duplicate compares as %d", result);
    MPI_Comm_free(&made);
    talk(me, twin, me->rank, "duplicate");
    MPI_Comm_free(&twin);
    MPI_Comm_group(me->shared, &group);
    // MPICH 4.0.2 crashes if threads call MPI_Comm_create_group at once.
    if (on_margay()) {
      MPI_Comm_create_group(me->shared, group, me->self, &made);
    } else {
      MPI_Comm_create(me->own, group, &made);
    }
    MPI_Group_free(&group);
    talk(me, made, me->other, "of a group");
    MPI_Comm_free(&made);
    if (on_margay()) bridge(me);  // also in MPI_Intercomm_create
  }
}

static void graphs(const struct user* me) {
  MPI_Comm graph;
  const int index[2] = {1, 2}, edges[2] = {1, 0};
  int neighbours = -1, list[1] = {-1}, weights[1] = {-1}, to[1] = {-1}, to_weights[1] = {-1};
  MPI_Graph_create(me->own, 2, index, edges, 0, &graph);
  MPI_Graph_neighbors_count(graph, me->rank, &neighbours);
  MPI_Graph_neighbors(graph, me->rank, 1, list);
  EXPECT(neighbours == 1 && list[0] == me->other, "%d neighbours, %d", neighbours, list[0]);
  talk(me, graph, list[0], "graph");
  MPI_Comm_free(&graph);
  const int weight = me->self;
  MPI_Dist_graph_create_adjacent(me->own, 1, &me->other, &weight, 1, &me->other, &weight, MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors(graph, 1, list, weights, 1, to, to_weights);
  EXPECT(list[0] == me->other && weights[0] == me->self && to[0] == me->other, "from %d (%d), to %d", list[0],
         weights[0], to[0]);
  MPI_Comm_free(&graph);
}

static void topologies(const struct user* me) {
  for (int round = 0; round < kRounds / 2; ++round) {
    MPI_Comm grid, row;
    int dims[2] = {0, 1}, size = -1, place[2] = {-1, -1}, from = -1, to = -1, kind = -1;
    const int periods[2] = {1, 0}, keep[2] = {0, 1};
    MPI_Dims_create(2, 2, dims);
    MPI_Cart_create(me->own, 2, dims, periods, 0, &grid);
    MPI_Topo_test(grid, &kind);
    MPI_Cart_coords(grid, me->rank, 2, place);
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    EXPECT(kind == MPI_CART && place[0] == me->rank && from == me->other && to == me->other, "place %d, from %d to %d",
           place[0], from, to);
    talk(me, grid, to, "grid");
    MPI_Cart_sub(grid, keep, &row);
    MPI_Comm_size(row, &size);
    EXPECT(size == 1, "a row of %d", size);
    MPI_Comm_free(&row);
    MPI_Comm_free(&grid);
    graphs(me);
  }
}

int main(int argc, char** argv) {
  static const struct function_class kClasses[] = {
      {"datatypes", datatypes},         {"operations", operations}, {"groups", groups},
      {"communicators", communicators}, {"topologies", topologies},
  };
  return class_main(argc, argv, "object_threads", kClasses, sizeof kClasses / sizeof kClasses[0], make_common,
                    free_common);
}
