// Tests of Alltoall, Alltoallv and Alltoallw in all forms: blocks from 0 to 70,000 bytes, in place, uneven, mostly
// empty, with gaps and in reversed order, with different layouts on the two sides, and with a different type for each
// peer.
// ranks: 1 2 3 5 8
// reference: 2 3
#include "blocks.h"
#include "collective_forms.h"

static int rank, size;
static Layout layouts[kLayouts];

enum { kAlltoall, kAlltoallv, kAlltoallw, kFunctions };
static const char* const kNames[] = {"Alltoall", "Alltoallv", "Alltoallw"};

typedef struct {
  int function, in_place;
  unsigned seed;
  Side out, in;
} Exchange;

static unsigned seed_of(const Exchange* c, int from, int to, int start) {
  return c->seed + (unsigned)(from * 16 + to * 3 + start * 47);
}

static void fill(void* call, int start) {
  Exchange* c = call;
  side_clear(&c->in);
  if (!c->in_place) side_clear(&c->out);
  for (int peer = 0; peer < size; ++peer) {
    if (c->in_place)
      side_has(&c->in, peer, seed_of(c, rank, peer, start));
    else
      side_keeps(&c->out, peer, seed_of(c, rank, peer, start));
    side_gets(&c->in, peer, seed_of(c, peer, rank, start));
  }
}

static void begin(void* call, int form, MPI_Request* request) {
  const Exchange* c = call;
  const Side* in = &c->in;
  // In place, MPI ignores the arguments of the send buffer.
  const Side nothing = {0};
  const Side* out = c->in_place ? &nothing : &c->out;
  const void* from = c->in_place ? MPI_IN_PLACE : out->now;
  const MPI_Datatype type = c->in_place ? MPI_DATATYPE_NULL : out->types[0];
  const int count = c->in_place ? 0 : out->counts[0];
  if (c->function == kAlltoall)
    CALL_IN_FORM(form, Alltoall, alltoall, (from, count, type, in->now, in->counts[0], in->types[0]),
                 (from, count, type, in->now, in->counts[0], in->types[0]), MPI_COMM_WORLD, request);
  else if (c->function == kAlltoallv)
    CALL_IN_FORM(
        form, Alltoallv, alltoallv,
        (from, out->counts, out->displs, type, in->now, in->counts, in->displs, in->types[0]),
        (from, out->large_counts, out->large_displs, type, in->now, in->large_counts, in->large_displs, in->types[0]),
        MPI_COMM_WORLD, request);
  else
    CALL_IN_FORM(form, Alltoallw, alltoallw,
                 (from, out->counts, out->byte_displs, out->types, in->now, in->counts, in->byte_displs, in->types),
                 (from, out->large_counts, out->large_byte_displs, out->types, in->now, in->large_counts,
                  in->large_byte_displs, in->types),
                 MPI_COMM_WORLD, request);
}

static void check(void* call, int form, int start) {
  Exchange* c = call;
  char what[100];
  snprintf(what, sizeof what, "%s%s, start %d", kNames[c->function], c->in_place ? " in place" : "", start);
  side_check(&c->in, what, form);
  if (!c->in_place) side_check(&c->out, what, form);
}

static const Steps kSteps = {fill, begin, check};

// The number of bytes that one rank sends to another.
typedef enum { kEven, kUneven, kSparse } Amounts;
static int amount(Amounts amounts, int bytes, int from, int to, int in_place) {
  // In place, a rank receives as much from a peer as it sends to it.
  const int a = in_place && to < from ? to : from, b = in_place && to < from ? from : to;
  if (amounts == kEven) return bytes;
  if (amounts == kUneven) return (a * 2 + b + 1) % 4 * bytes;
  return b == (a + 1) % size ? bytes : 0;
}

// `out` and `in` are the layouts of the first block; with a layout for each block the two sides of each pair differ.
static void exchange(int function, int form, Amounts amounts, int bytes, int out, int in, int placing, int in_place) {
  // MPICH 4.0.2's MPI_Ialltoallw in place confuses blocks of different types or lengths; its MPI_Alltoallw does not.
  if (function == kAlltoallw && form % 3 != kBlocking && !on_margay()) in_place = 0;
  int *going = memory_of((size_t)size * sizeof(int)), *coming = memory_of((size_t)size * sizeof(int));
  const Layout** out_layouts = memory_of((size_t)size * sizeof(Layout*));
  const Layout** in_layouts = memory_of((size_t)size * sizeof(Layout*));
  const int each_its_own = function == kAlltoallw && bytes % kUnit == 0;
  for (int peer = 0; peer < size; ++peer) {
    going[peer] = amount(amounts, bytes, rank, peer, in_place);
    coming[peer] = amount(amounts, bytes, peer, rank, in_place);
    const int among = in_place ? rank + peer : rank * 2 + peer;
    out_layouts[peer] = &layouts[each_its_own ? (out + among) % kLayouts : out];
    in_layouts[peer] = &layouts[each_its_own ? (in + among) % kLayouts : in];
  }
  Exchange c = {.function = function, .in_place = in_place, .seed = (unsigned)(bytes + form)};
  c.in = side_of(size, in_layouts, coming, placing);
  const int out_placing = function == kAlltoall ? kInARow : (placing + 1) % kPlacings;
  if (!in_place) c.out = side_of(size, out_layouts, going, out_placing);
  in_form(&kSteps, &c, form, kStarts);
  if (!in_place) side_free(&c.out);
  side_free(&c.in);
  free(going);
  free(coming);
  free(out_layouts);
  free(in_layouts);
}

static void every_length(void) {
  static const int kBytes[] = {0, 1, 7, 3000, 70000};
  for (int i = 0; i < 5; ++i)
    for (int form = 0; form < kForms; ++form) {
      const int function = (i + form) % kFunctions, in_place = (i + form / 3) % 2;
      const int placing = function == kAlltoall ? kInARow : form % kPlacings;
      exchange(function, form, kEven, kBytes[i], kPlain, kPlain, placing, in_place);
    }
}

static void uneven(void) {
  for (int form = 0; form < kForms; ++form)
    for (int function = kAlltoallv; function <= kAlltoallw; ++function)
      for (int in_place = 0; in_place < 2; ++in_place) {
        const int bytes = form % 2 == in_place ? 3 * kUnit : 429 * kUnit;
        exchange(function, form, kUneven, bytes, kPlain, kPlain, (form + 1) % kPlacings, in_place);
      }
}

static void sparse(void) {
  for (int form = 0; form < kForms; ++form)
    for (int function = kAlltoallv; function <= kAlltoallw; ++function) {
      exchange(function, form, kSparse, form % 2 ? 10000 * kUnit : kUnit, kPlain, kPlain, kGaps, 0);
      exchange(function, form, kSparse, form % 2 ? kUnit : 10000 * kUnit, kPlain, kPlain, kReversed, size > 2);
    }
}

static void unlike_layouts(void) {
  for (int form = 0; form < kForms; ++form)
    for (int function = 0; function < kFunctions; ++function) {
      const int out = (form + function) % kLayouts, in = (out + 1 + form % 2) % kLayouts;
      const int placing = function == kAlltoall ? kInARow : form % kPlacings;
      exchange(function, form, function == kAlltoall ? kEven : kUneven, (form % 3 == 0 ? 2000 : 3) * kUnit, out, in,
               placing, 0);
    }
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  make_layouts(layouts);
  every_length();
  uneven();
  sparse();
  unlike_layouts();
  free_layouts(layouts);
  return suite_end("alltoall");
}
