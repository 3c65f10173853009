// Tests of the elements that each reduction passes to its operation: elements of 16 bytes are aligned to 16. With a
// datatype of no bytes nothing is written. A repeated call returns the same bits.
// ranks: 1 3 6
// reference: 3
#include <stdint.h>

#include "collective_forms.h"

enum { kReduce, kAllreduce, kReduceScatterBlock, kReduceScatter, kScan, kExscan, kFunctions };
static const char* const kNames[] = {"Reduce", "Allreduce", "Reduce_scatter_block", "Reduce_scatter", "Scan", "Exscan"};
enum { kRanksMost = 6, kCountMost = 5000 };

static int rank, size;

typedef struct {
  int function, count, root;  // `count`: of a rank's block in a reduce-scatter
  const void* in;
  void* out;
  MPI_Datatype type;
  MPI_Op op;
} Call;

// The elements of the result that rank `of` gets, and the number of elements before them. A Reduce_scatter's blocks are
// uneven.
static int block(const Call* c, int of) {
  if (c->function == kReduce) return of == c->root ? c->count : 0;
  if (c->function == kExscan) return of > 0 ? c->count : 0;
  return c->function == kReduceScatter && of % 2 == 0 ? 2 * c->count : c->count;
}
static int before(const Call* c, int of) {
  int elements = 0;
  if (c->function != kReduceScatterBlock && c->function != kReduceScatter) return 0;
  for (int lower = 0; lower < of; ++lower) elements += block(c, lower);
  return elements;
}
// The last rank whose elements the result includes, plus 1.
static int end_of(const Call* c) {
  if (c->function == kScan) return rank + 1;
  return c->function == kExscan ? rank : size;
}

static void reduce(const Call* c, int form) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm world = MPI_COMM_WORLD;
  const void* in = c->in;
  void* out = c->out;
  const int count = c->count, root = c->root;
  const MPI_Datatype type = c->type;
  const MPI_Op op = c->op;
  int counts[kRanksMost];
  MPI_Count large[kRanksMost];
  for (int of = 0; of < size; ++of) large[of] = counts[of] = block(c, of);
  switch (c->function) {
    case kReduce:
      CALL_IN_FORM(form, Reduce, reduce, (in, out, count, type, op, root), (in, out, count, type, op, root), world,
                   &request);
      break;
    case kAllreduce:
      CALL_IN_FORM(form, Allreduce, allreduce, (in, out, count, type, op), (in, out, count, type, op), world, &request);
      break;
    case kReduceScatterBlock:
      CALL_IN_FORM(form, Reduce_scatter_block, reduce_scatter_block, (in, out, count, type, op),
                   (in, out, count, type, op), world, &request);
      break;
    case kReduceScatter:
      CALL_IN_FORM(form, Reduce_scatter, reduce_scatter, (in, out, counts, type, op), (in, out, large, type, op), world,
                   &request);
      break;
    case kScan:
      CALL_IN_FORM(form, Scan, scan, (in, out, count, type, op), (in, out, count, type, op), world, &request);
      break;
    default:
      CALL_IN_FORM(form, Exscan, exscan, (in, out, count, type, op), (in, out, count, type, op), world, &request);
  }
  if (is_persistent(form)) MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (is_persistent(form)) MPI_Request_free(&request);
}

typedef struct {
  _Alignas(16) double sum;
  double ranks;
} Pair;

static int unaligned;
static void add_pairs(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  unaligned += (uintptr_t)in % _Alignof(Pair) != 0 || (uintptr_t)inout % _Alignof(Pair) != 0;
  for (int i = 0; i < *length; ++i) {
    Pair from, to;
    memcpy(&from, (char*)in + i * (int)sizeof from, sizeof from);
    memcpy(&to, (char*)inout + i * (int)sizeof to, sizeof to);
    to.sum += from.sum, to.ranks += from.ranks;
    memcpy((char*)inout + i * (int)sizeof to, &to, sizeof to);
  }
}

static void aligned(Call* c, int form) {
  const int given = before(c, size) > c->count ? before(c, size) : c->count, end = end_of(c);
  Pair* in = memory_of(sizeof(Pair) * (size_t)given);
  Pair* out = memory_of(sizeof(Pair) * (size_t)given);
  for (int i = 0; i < given; ++i) in[i] = (Pair){rank + i, 1};
  c->in = in, c->out = out;
  unaligned = 0;
  reduce(c, form);
  for (int i = 0; i < block(c, rank); ++i) {
    const int at = before(c, rank) + i;
    CHECK(out[i].sum == end * (end - 1) / 2 + end * at && out[i].ranks == end, "%s, form %d: element %d of %d",
          kNames[c->function], form, i, c->count);
  }
  CHECK(unaligned == 0, "%s of %d, form %d: %d calls with addresses that are no multiple of 16", kNames[c->function],
        c->count, form, unaligned);
  free(in);
  free(out);
}

#ifdef __SIZEOF_FLOAT128__
// Reductions of __float128, whose instructions fault on operands that are not aligned.
static void long_reals(Call* c) {
  __float128 in[2 * kRanksMost * 3], out[2 * kRanksMost * 3];
  const int end = end_of(c);
  for (int i = 0; i < 2 * kRanksMost * 3; ++i) in[i] = rank + i;
  c->in = in, c->out = out, c->type = MPI_REAL16, c->op = MPI_SUM;
  reduce(c, kBlocking);
  for (int i = 0; i < block(c, rank); ++i)
    CHECK(out[i] == end * (end - 1) / 2 + end * (before(c, rank) + i), "%s of MPI_REAL16: element %d of %d",
          kNames[c->function], i, c->count);
}
#endif

static void alignment(void) {
  static const int kCounts[] = {1, 2, 3, 70, kCountMost};
  MPI_Datatype type;
  MPI_Op op;
  MPI_Type_contiguous(2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(add_pairs, 1, &op);
  for (int function = 0; function < kFunctions; ++function)
    for (int i = 0; i < 5; ++i) {
      Call c = {.function = function, .count = kCounts[i], .root = i % size, .type = type, .op = op};
      for (int form = 0; form < kForms; ++form) aligned(&c, form);
#ifdef __SIZEOF_FLOAT128__
      if (on_margay() && c.count <= 3) long_reals(&c);
#endif
    }
  MPI_Op_free(&op);
  MPI_Type_free(&type);
}

static void nothing(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in, (void)inout, (void)length, (void)type;
}

// Reductions of elements without bytes.
static void no_data(void) {
  MPI_Datatype type;
  MPI_Op ops[2];
  MPI_Type_contiguous(0, MPI_INT, &type);
  MPI_Type_commit(&type);
  for (int commutes = 0; commutes < 2; ++commutes) MPI_Op_create(nothing, commutes, &ops[commutes]);
  for (int function = 0; function < kFunctions; ++function)
    for (int form = 0; form < kForms; ++form) {
      char in = 1, out = 2;
      const Call c = {function, 3, size - 1, &in, &out, type, ops[form % 2]};
      reduce(&c, form);
      CHECK(in == 1 && out == 2, "%s, form %d: wrote where there is no data", kNames[function], form);
    }
  for (int commutes = 0; commutes < 2; ++commutes) MPI_Op_free(&ops[commutes]);
  MPI_Type_free(&type);
}

// Repeats a call with another late rank each time: the result must not depend on the order of arrival.
static void repeated(Call* c, int form) {
  static double in[2 * kRanksMost * kCountMost], out[2 * kCountMost], first[2 * kCountMost];
  unsigned bits = 17 + (unsigned)rank;
  for (int i = 0; i < 2 * kRanksMost * c->count; ++i) {
    bits = bits * 1664525u + 1013904223u;
    in[i] = (double)(bits >> 8) * (bits % 3 == 0 ? 1e9 : bits % 3 == 1 ? 1 : 1e-9);
  }
  c->in = in, c->out = out, c->type = MPI_DOUBLE, c->op = MPI_SUM;
  const size_t bytes = sizeof(double) * (size_t)block(c, rank);
  for (int time = 0; time < 2 * size; ++time) {
    if (time % size == rank) usleep(2000);
    reduce(c, form);
    if (time == 0) memcpy(first, out, bytes);
    CHECK(memcmp(first, out, bytes) == 0, "%s of %d, form %d: other bits than the first time", kNames[c->function],
          c->count, form);
  }
}

static void same_bits(void) {
  static const int kCounts[] = {2, 100, kCountMost};
  for (int function = 0; function < kFunctions; ++function)
    for (int i = 0; i < 3; ++i)
      for (int form = kBlocking; form <= kNonblocking; ++form) {
        Call c = {.function = function, .count = kCounts[i], .root = size / 2};
        repeated(&c, form);
      }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  alignment();
  no_data();
  same_bits();
  return suite_end("reduce_elements");
}
