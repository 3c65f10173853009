// Tests of operations of the program: order of ranks, derived datatypes with gaps and lower bounds, Reduce_local, freed
// operations, and the types for which predefined operations are not defined.
// ranks: 1 3 6
// reference: 3
#include <stddef.h>
#include <stdint.h>

#include "check.h"

// x -> a x + b. Composition is associative and does not commute.
typedef struct {
  uint64_t a, b;
} Map;

static Map composed(Map first, Map second) {
  const Map both = {first.a * second.a, first.b * second.a + second.b};
  return both;
}
static Map map_of(int rank, int i) {
  const Map map = {2 * (uint64_t)rank + 3, (uint64_t)rank + (uint64_t)i + 1};
  return map;
}
static Map expected_map(int i) {
  Map all = map_of(0, i);
  for (int rank = 1; rank < world_size(); ++rank) all = composed(all, map_of(rank, i));
  return all;
}

static MPI_Datatype seen_type;
static int calls;

static void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  const Map* first = in;
  Map* second = inout;
  seen_type = *type;
  ++calls;
  int size = 0;
  MPI_Type_size(*type, &size);  // a call inside a call
  CHECK(size == (int)sizeof(Map), "the function's datatype has %d bytes", size);
  for (int i = 0; i < *length; ++i) second[i] = composed(first[i], second[i]);
}

// A map in two pieces: a at the address, b 16 bytes below it; extent 24, lower bound -16.
enum { kExtent = 24, kBelow = 16, kGapCount = 5 };

static Map map_at(const char* at) {
  Map map;
  memcpy(&map.a, at, 8);
  memcpy(&map.b, at - kBelow, 8);
  return map;
}
static void put_map(char* at, Map map) {
  memcpy(at, &map.a, 8);
  memcpy(at - kBelow, &map.b, 8);
}
static void compose_gaps(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) {
    char* to = (char*)inout + i * kExtent;
    put_map(to, composed(map_at((char*)in + i * kExtent), map_at(to)));
  }
}

static void check_maps(const char* what, const Map* maps, int count) {
  for (int i = 0; i < count; ++i) {
    const Map right = expected_map(i);
    CHECK(maps[i].a == right.a && maps[i].b == right.b, "%s: element %d of %d", what, i, count);
  }
}

static void order_of_ranks(MPI_Datatype type, MPI_Op op) {
  static const int counts[] = {1, 7, 500, 4000};
  for (int c = 0; c < 4; ++c) {
    const int count = counts[c];
    Map* mine = memory_of(sizeof(Map) * (size_t)count);
    Map* result = memory_of(sizeof(Map) * (size_t)count);
    for (int root = 0; root < world_size(); ++root) {
      for (int i = 0; i < count; ++i) mine[i] = map_of(world_rank(), i);
      MPI_Reduce(mine, result, count, type, op, root, MPI_COMM_WORLD);
      if (world_rank() == root) check_maps("reduce", result, count);
      if (world_size() > 1 && world_rank() == 0) CHECK(root != 0 || seen_type == type, "another datatype was seen");
      MPI_Reduce(world_rank() == root ? MPI_IN_PLACE : mine, mine, count, type, op, root, MPI_COMM_WORLD);
      if (world_rank() == root) check_maps("reduce in place", mine, count);
    }
    for (int i = 0; i < count; ++i) mine[i] = map_of(world_rank(), i);
    MPI_Allreduce(mine, result, count, type, op, MPI_COMM_WORLD);
    check_maps("allreduce", result, count);
    free(mine);
    free(result);
  }
}

static void with_gaps(void) {
  MPI_Datatype type;
  MPI_Type_create_hvector(2, 1, -kBelow, MPI_INT64_T, &type);
  MPI_Type_commit(&type);
  MPI_Op op;
  MPI_Op_create(compose_gaps, 0, &op);
  char memory[kBelow + kGapCount * kExtent], result[sizeof memory];
  memset(memory, 0x5a, sizeof memory);
  memset(result, 0x5a, sizeof result);
  for (int i = 0; i < kGapCount; ++i) put_map(memory + kBelow + i * kExtent, map_of(world_rank(), i));
  const int root = world_size() - 1;
  for (int all = 0; all < 2; ++all) {
    if (all) {
      MPI_Allreduce(memory + kBelow, result + kBelow, kGapCount, type, op, MPI_COMM_WORLD);
    } else {
      MPI_Reduce(memory + kBelow, result + kBelow, kGapCount, type, op, root, MPI_COMM_WORLD);
    }
    if (!all && world_rank() != root) continue;
    Map maps[kGapCount];
    for (int i = 0; i < kGapCount; ++i) {
      const char* at = result + kBelow + i * kExtent;
      maps[i] = map_at(at);
      for (int b = 1; b <= 8; ++b) CHECK(at[-b] == 0x5a, "a gap of element %d was written", i);
    }
    check_maps(all ? "allreduce with gaps" : "reduce with gaps", maps, kGapCount);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

// Ints with an extent of -8 bytes, and so with gaps between them.
enum { kBackCount = 50 };
static void add_backwards(void* in, void* inout, int* length, MPI_Datatype* type) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(*type, &lower, &extent);
  CHECK(extent == -8, "the function's datatype has extent %ld", (long)extent);
  CHECK((uintptr_t)in % 16 == 0 && (uintptr_t)inout % 16 == 0, "not aligned as memory is: %p %p", in, inout);
  for (int i = 0; i < *length; ++i) *(int*)((char*)inout - 8 * i) += *(int*)((char*)in - 8 * i);
}

static void backwards(void) {
  MPI_Datatype type;
  MPI_Type_create_resized(MPI_INT, 0, -8, &type);
  MPI_Type_commit(&type);
  MPI_Op op;
  MPI_Op_create(add_backwards, 2, &op);  // any nonzero number means commutative
  int commute = -1, mine[2 * kBackCount], sums[2 * kBackCount];
  MPI_Op_commutative(op, &commute);
  CHECK(commute == 1, "commutative: %d", commute);
  for (int i = 0; i < 2 * kBackCount; ++i) mine[i] = world_rank() + i, sums[i] = -1;
  const int last = 2 * (kBackCount - 1), size = world_size();
  MPI_Allreduce(&mine[last], &sums[last], kBackCount, type, op, MPI_COMM_WORLD);
  for (int i = 0; i < 2 * kBackCount; ++i) {
    const int right = i % 2 == 0 ? size * (size - 1) / 2 + size * i : -1;
    CHECK(sums[i] == right, "backwards: element %d is %d", i, sums[i]);
  }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

static void local(MPI_Datatype type, MPI_Op op) {
  Map first[3], second[3];
  for (int i = 0; i < 3; ++i) first[i] = map_of(1, i), second[i] = map_of(2, i);
  MPI_Reduce_local(first, second, 3, type, op);
  for (int i = 0; i < 3; ++i) {
    const Map right = composed(map_of(1, i), map_of(2, i));
    CHECK(second[i].a == right.a && second[i].b == right.b, "reduce_local: element %d", i);
  }
  double a[2] = {1.5, -2}, b[2] = {2, 3};
  MPI_Reduce_local(a, b, 2, MPI_DOUBLE, MPI_SUM);
  CHECK(b[0] == 3.5 && b[1] == 1, "reduce_local of doubles: %g %g", b[0], b[1]);
  const int before = calls;
  MPI_Reduce_local(first, second, 0, type, op);
  CHECK(calls == before, "the function was called for no elements");
}

static void refused(void) {
  int x[2] = {1, 2}, y[2] = {3, 4}, commute = -1;
  MPI_Op op = MPI_OP_NULL;
  const MPI_Op sum = MPI_SUM;
  MPI_Op copy = sum;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK(class_of(MPI_Reduce_local(x, y, 2, MPI_INT, MPI_OP_NULL)) == MPI_ERR_OP, "MPI_OP_NULL");
  CHECK(class_of(MPI_Reduce_local(x, y, 1, MPI_BYTE, MPI_SUM)) == MPI_ERR_OP, "MPI_SUM of MPI_BYTE");
  CHECK(class_of(MPI_Reduce_local(x, y, 1, MPI_FLOAT, MPI_BAND)) == MPI_ERR_OP, "MPI_BAND of MPI_FLOAT");
  CHECK(class_of(MPI_Reduce_local(x, y, 1, MPI_INT, MPI_MAXLOC)) == MPI_ERR_OP, "MPI_MAXLOC of MPI_INT");
  CHECK(class_of(MPI_Reduce_local(x, y, 2, MPI_INT, MPI_REPLACE)) == MPI_ERR_OP, "MPI_REPLACE");
  CHECK(class_of(MPI_Op_free(&op)) == MPI_ERR_OP, "MPI_Op_free of MPI_OP_NULL");
  CHECK(class_of(MPI_Op_free(&copy)) == MPI_ERR_OP && copy == sum, "MPI_Op_free of MPI_SUM");
  CHECK(class_of(MPI_Op_commutative(MPI_OP_NULL, &commute)) == MPI_ERR_OP, "MPI_Op_commutative of MPI_OP_NULL");
  CHECK(x[0] == 1 && x[1] == 2 && y[0] == 3 && y[1] == 4, "a refused call changed a buffer");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_UINT64_T, &type);
  MPI_Type_commit(&type);
  MPI_Op op, commuting;
  MPI_Op_create(compose, 0, &op);
  MPI_Op_create(compose, 1, &commuting);
  int yes = -1, no = -1, sum = -1;
  MPI_Op_commutative(commuting, &yes);
  MPI_Op_commutative(op, &no);
  MPI_Op_commutative(MPI_SUM, &sum);
  CHECK(yes == 1 && no == 0 && sum == 1, "commutative: %d %d %d", yes, no, sum);
  MPI_Op_commutative(MPI_REPLACE, &yes);
  MPI_Op_commutative(MPI_NO_OP, &no);
  CHECK(yes == 0 && no == 0, "MPI_REPLACE, MPI_NO_OP commute: %d %d", yes, no);
  order_of_ranks(type, op);
  with_gaps();
  if (on_margay()) backwards();  // MPICH 4.0.2 crashes
  local(type, op);
  MPI_Op_free(&op);
  MPI_Op_free(&commuting);
  CHECK(op == MPI_OP_NULL, "a freed operation keeps its handle");
  MPI_Type_free(&type);
  refused();
  return suite_end("user_ops");
}
