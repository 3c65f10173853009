// Tests of Scan and Exscan in all forms: in place, counts from 0 to 20,000; predefined operations, a commutative one of
// the program and one that is not, also over a type with a gap. Rank 0 of an Exscan needs no receive buffer.
// ranks: 1 2 3 5 8
// reference: 2 3
#include "collective_forms.h"
#include "reductions.h"

static int rank, size;
static Reduction reductions[kReductions];

typedef struct {
  int exclusive, which, in_place, without_buffer, count;
  unsigned seed;
  Elements in, out;
} Call;

static void fill(void* call, int start) {
  Call* c = call;
  const unsigned seed = c->seed + (unsigned)start * 7;
  elements_clear(&c->in);
  elements_clear(&c->out);
  for (int i = 0; i < c->count; ++i) {
    const size_t at = (size_t)i * c->in.extent;
    const Map given = input_of(c->which, seed, rank, i);
    put_element((c->in_place ? c->out.now : c->in.now) + at, c->which, given);
    put_element(c->in.expected + at, c->which, given);
    // The first rank of an Exscan in place keeps its buffer's contents.
    const int end = c->exclusive ? rank : rank + 1;
    const Map right = end == 0 ? given : reduced(reductions, c->which, seed, 0, end, i);
    put_element(c->out.expected + at, c->which, right);
  }
}

static void begin(void* call, int form, MPI_Request* request) {
  const Call* c = call;
  const void* in = c->in_place ? MPI_IN_PLACE : c->in.now;
  void* out = c->without_buffer && rank == 0 ? NULL : c->out.now;
  const MPI_Datatype type = reductions[c->which].type;
  const MPI_Op op = reductions[c->which].op;
  if (c->exclusive)
    CALL_IN_FORM(form, Exscan, exscan, (in, out, c->count, type, op), (in, out, c->count, type, op), MPI_COMM_WORLD,
                 request);
  else
    CALL_IN_FORM(form, Scan, scan, (in, out, c->count, type, op), (in, out, c->count, type, op), MPI_COMM_WORLD,
                 request);
}

static void check(void* call, int form, int start) {
  Call* c = call;
  char what[100];
  snprintf(what, sizeof what, "%s%s, start %d", c->exclusive ? "Exscan" : "Scan", c->in_place ? " in place" : "",
           start);
  const int undefined = c->exclusive && rank == 0 && !c->in_place;
  elements_check(&c->out, c->which, undefined ? 0 : c->count, what, form);
  if (!c->in_place) elements_check(&c->in, c->which, c->count, "what was given", form);
}

static const Steps kSteps = {fill, begin, check};

static void scan(int exclusive, int form, int which, int count, int in_place, int without_buffer) {
  Call c = {.exclusive = exclusive,
            .which = which,
            .in_place = in_place,
            .without_buffer = without_buffer,
            .count = count,
            .seed = (unsigned)(count + form * 3),
            .in = elements_of(count, reductions[which].extent),
            .out = elements_of(count, reductions[which].extent)};
  in_form(&kSteps, &c, form, kStarts);
  elements_free(&c.in);
  elements_free(&c.out);
}

static void every_reduction(void) {
  static const int kCounts[] = {1, 40, 7};
  for (int form = 0; form < kForms; ++form)
    for (int which = 0; which < kReductions; ++which)
      scan((form + which) % 2, form, which, kCounts[(form + which) % 3], form / 3, 0);
}

static void every_length(void) {
  static const int kCounts[] = {0, 1, 7, 600, 20000};
  for (int i = 0; i < 5; ++i)
    for (int form = 0; form < kForms; ++form) {
      const int which = (i + form) % 3 == 0 ? kSumOfInts : (i + form) % 3 == 1 ? kOrdered : kCommuting;
      scan((i + form) % 2, form, which, kCounts[i], form / 3 == i % 2, 0);
    }
}

static void without_buffer(void) {
  for (int form = 0; form < kForms; ++form) {
    scan(1, form, kSumOfInts, 5, 0, 1);
    scan(1, form, kOrdered, 1000, 0, 1);
  }
}

// Each rank sends only to the next one, so the first may be far ahead.
static void in_a_row(void) {
  for (int i = 0; i < 20; ++i) {
    const int mine = rank + i;
    int before = -1, with = -1;
    MPI_Exscan(&mine, &before, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Scan(&mine, &with, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const int right = rank * (rank - 1) / 2 + rank * i;
    CHECK(rank == 0 || before == right, "exscan %d: %d, not %d", i, before, right);
    CHECK(with == right + mine, "scan %d: %d, not %d", i, with, right + mine);
  }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  make_reductions(reductions);
  every_reduction();
  every_length();
  if (on_margay()) without_buffer();  // MPICH 4.0.2 rejects the null pointer
  in_a_row();
  free_reductions(reductions);
  return suite_end("scan");
}
