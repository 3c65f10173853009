// Tests of Reduce_scatter and Reduce_scatter_block in all forms: in place, uneven and empty blocks; predefined
// operations, a commutative one of the program and one that is not, also over a type with a gap.
// ranks: 1 2 3 5 8
// reference: 2 3
#include "collective_forms.h"
#include "reductions.h"

static int rank, size;
static Reduction reductions[kReductions];

typedef struct {
  int block, which, in_place;
  int *counts, total, before;  // `before`: elements of lower ranks
  MPI_Count* large_counts;
  unsigned seed;
  Elements in, out;  // in place only `out` is used, with room for the operands
} Call;

static void fill(void* call, int start) {
  Call* c = call;
  const unsigned seed = c->seed + (unsigned)start * 7;
  elements_clear(&c->in);
  elements_clear(&c->out);
  for (int i = 0; i < c->total; ++i) {
    const size_t at = (size_t)i * c->in.extent;
    const Map given = input_of(c->which, seed, rank, i);
    put_element((c->in_place ? c->out.now : c->in.now) + at, c->which, given);
    put_element(c->in.expected + at, c->which, given);
  }
  for (int i = 0; i < c->counts[rank]; ++i)
    put_element(c->out.expected + (size_t)i * c->out.extent, c->which,
                reduced(reductions, c->which, seed, 0, size, c->before + i));
}

static void begin(void* call, int form, MPI_Request* request) {
  const Call* c = call;
  const void* in = c->in_place ? MPI_IN_PLACE : c->in.now;
  const MPI_Datatype type = reductions[c->which].type;
  const MPI_Op op = reductions[c->which].op;
  if (c->block)
    CALL_IN_FORM(form, Reduce_scatter_block, reduce_scatter_block, (in, c->out.now, c->counts[0], type, op),
                 (in, c->out.now, c->counts[0], type, op), MPI_COMM_WORLD, request);
  else
    CALL_IN_FORM(form, Reduce_scatter, reduce_scatter, (in, c->out.now, c->counts, type, op),
                 (in, c->out.now, c->large_counts, type, op), MPI_COMM_WORLD, request);
}

static void check(void* call, int form, int start) {
  Call* c = call;
  char what[100];
  snprintf(what, sizeof what, "Reduce_scatter%s%s, start %d", c->block ? "_block" : "", c->in_place ? " in place" : "",
           start);
  elements_check(&c->out, c->which, c->counts[rank], what, form);
  if (!c->in_place) elements_check(&c->in, c->which, c->total, "what was given", form);
}

static const Steps kSteps = {fill, begin, check};

typedef enum { kEven, kUneven, kOneRank } Amounts;
static int amount(Amounts amounts, int count, int of) {
  if (amounts == kEven) return count;
  if (amounts == kUneven) return (of + 1) % 4 * count + (of % 2);
  return of == size / 2 ? count : 0;
}

static void reduce_scatter(int block, int form, int which, Amounts amounts, int count, int in_place) {
  Call c = {.block = block, .which = which, .in_place = in_place, .seed = (unsigned)(count + form * 3)};
  c.counts = memory_of((size_t)size * sizeof(int));
  c.large_counts = memory_of((size_t)size * sizeof(MPI_Count));
  for (int r = 0; r < size; ++r) {
    c.counts[r] = amount(block ? kEven : amounts, count, r);
    c.large_counts[r] = c.counts[r];
    if (r < rank) c.before += c.counts[r];
    c.total += c.counts[r];
  }
  c.in = elements_of(c.total, reductions[which].extent);
  c.out = elements_of(in_place ? c.total : c.counts[rank], reductions[which].extent);
  in_form(&kSteps, &c, form, kStarts);
  elements_free(&c.in);
  elements_free(&c.out);
  free(c.counts);
  free(c.large_counts);
}

static void every_reduction(void) {
  static const int kCounts[] = {1, 40, 7};
  for (int form = 0; form < kForms; ++form)
    for (int which = 0; which < kReductions; ++which) {
      const int block = (form + which) % 2;
      reduce_scatter(block, form, which, (form + which) % 3, kCounts[(form + which) % 3], form / 3 == which % 2);
    }
}

static void every_length(void) {
  static const int kCounts[] = {0, 1, 7, 600, 3000};
  for (int i = 0; i < 5; ++i)
    for (int form = 0; form < kForms; ++form)
      for (int block = 0; block < 2; ++block) {
        const int which = (i + form) % 3 == 0 ? kSumOfInts : (i + form) % 3 == 1 ? kOrdered : kCommuting;
        if (i < 4 || form % 2 == block) reduce_scatter(block, form, which, (form + i) % 3, kCounts[i], (i + block) % 2);
      }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  make_reductions(reductions);
  every_reduction();
  every_length();
  free_reductions(reductions);
  return suite_end("reduce_scatter");
}
