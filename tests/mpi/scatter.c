// Tests of Scatter and Scatterv in all forms: every root, in place, blocks from 0 to 70,000 bytes, uneven and empty
// ones, with gaps and in reversed order, with different layouts on the two sides.
// ranks: 1 2 3 5 8
// reference: 2 3
#include "blocks.h"
#include "collective_forms.h"

static int rank, size;
static Layout layouts[kLayouts];

typedef struct {
  int vector;  // MPI_Scatterv
  int root, in_place;
  Side all, own;  // `all` is used at the root only
} Scatter;

static unsigned seed_of(int root, int to, int start) {
  return (unsigned)(root * 61 + to * 7 + start * 3 + 1);
}

static void fill(void* call, int start) {
  Scatter* c = call;
  side_clear(&c->own);
  if (rank == c->root) {
    side_clear(&c->all);
    for (int to = 0; to < size; ++to) side_keeps(&c->all, to, seed_of(c->root, to, start));
  }
  if (!c->in_place || rank != c->root) side_gets(&c->own, 0, seed_of(c->root, rank, start));
}

static void begin(void* call, int form, MPI_Request* request) {
  Scatter* c = call;
  const int at_root = rank == c->root;
  // Arguments that are significant at the root only are null elsewhere; those that are not significant in place are
  // invalid.
  const int in_place = at_root && c->in_place;
  const void* all = at_root ? c->all.now : NULL;
  const int* counts = at_root ? c->all.counts : NULL;
  const int* displs = at_root ? c->all.displs : NULL;
  const MPI_Count* large_counts = at_root ? c->all.large_counts : NULL;
  const MPI_Aint* large_displs = at_root ? c->all.large_displs : NULL;
  const MPI_Datatype send_type = at_root ? c->all.types[0] : MPI_DATATYPE_NULL;
  void* own = in_place ? MPI_IN_PLACE : c->own.now;
  const MPI_Datatype type = in_place ? MPI_DATATYPE_NULL : c->own.types[0];
  const int count = in_place ? 0 : c->own.counts[0];
  const int send_count = at_root ? c->all.counts[0] : 0;
  if (c->vector)
    CALL_IN_FORM(form, Scatterv, scatterv, (all, counts, displs, send_type, own, count, type, c->root),
                 (all, large_counts, large_displs, send_type, own, count, type, c->root), MPI_COMM_WORLD, request);
  else
    CALL_IN_FORM(form, Scatter, scatter, (all, send_count, send_type, own, count, type, c->root),
                 (all, send_count, send_type, own, count, type, c->root), MPI_COMM_WORLD, request);
}

static void check(void* call, int form, int start) {
  Scatter* c = call;
  char what[100];
  snprintf(what, sizeof what, "%s%s from %d, start %d", c->vector ? "Scatterv" : "Scatter",
           c->in_place ? " in place" : "", c->root, start);
  side_check(&c->own, what, form);
  if (rank == c->root) side_check(&c->all, what, form);
}

static const Steps kSteps = {fill, begin, check};

// MPICH 4.0.2's MPI_Scatter_init cannot be started twice, and fills its buffers when the request is created.
static int starts(int vector) {
  return vector || on_margay() ? kStarts : 1;
}

static void scatter(int form, int root, int bytes, int from, int to, int in_place) {
  int* sizes = memory_of((size_t)size * sizeof(int));
  for (int r = 0; r < size; ++r) sizes[r] = bytes;
  Scatter c = {.root = root, .in_place = in_place, .own = single_side(&layouts[to], bytes)};
  if (rank == root) c.all = even_side(size, &layouts[from], sizes, kInARow);
  in_form(&kSteps, &c, form, starts(0));
  side_free(&c.own);
  if (rank == root) side_free(&c.all);
  free(sizes);
}

// Blocks of `bytes` times 0, 1, 2 and so on.
static void scatterv(int form, int root, int bytes, int from, int to, int placing, int in_place) {
  int* sizes = memory_of((size_t)size * sizeof(int));
  for (int r = 0; r < size; ++r) sizes[r] = (r + root) % 4 * bytes;
  Scatter c = {.vector = 1, .root = root, .in_place = in_place, .own = single_side(&layouts[to], sizes[rank])};
  if (rank == root) c.all = even_side(size, &layouts[from], sizes, placing);
  in_form(&kSteps, &c, form, starts(1));
  side_free(&c.own);
  if (rank == root) side_free(&c.all);
  free(sizes);
}

static void every_root(void) {
  static const int kBytes[] = {0, 1, 7, 3000};
  for (int form = 0; form < kForms; ++form)
    for (int root = 0; root < size; ++root) {
      const int bytes = kBytes[(form + root) % 4];
      scatter(form, root, bytes, kPlain, kPlain, root % 2);
      scatterv(form, root, bytes, kPlain, kPlain, (form + root) % kPlacings, root % 2);
    }
}

static void every_length(void) {
  static const int kBytes[] = {0, 1, 7, 3000, 70000};
  for (int i = 0; i < 5; ++i)
    for (int form = 0; form < kForms; ++form) {
      const int root = (i + form) % size;
      scatter(form, root, kBytes[i], kPlain, kPlain, i % 2);
      scatterv(form, root, kBytes[i], kPlain, kPlain, (i + form) % kPlacings, (i + 1) % 2);
    }
}

static void unlike_layouts(void) {
  static const int kUnits[] = {1, 429, 10000};
  for (int form = 0; form < kForms; ++form)
    for (int from = 0; from < kLayouts; ++from) {
      const int to = (from + 1 + form % 2) % kLayouts, root = (form + from) % size;
      scatter(form, root, kUnits[(form + from) % 3] * kUnit, from, to, 0);
      scatterv(form, root, kUnits[from % 2] * kUnit, from, to, (form + from) % kPlacings, from % 2);
    }
}

// Only one rank has a block; with two ranks or more it is not the root.
static void one_block(void) {
  int* sizes = memory_of((size_t)size * sizeof(int));
  for (int form = 0; form < kForms; ++form) {
    for (int r = 0; r < size; ++r) sizes[r] = r == size - 1 ? 70000 : 0;
    Scatter c = {.vector = 1, .own = single_side(&layouts[kPlain], sizes[rank])};
    if (rank == 0) c.all = even_side(size, &layouts[kPlain], sizes, kGaps);
    in_form(&kSteps, &c, form, starts(1));
    side_free(&c.own);
    if (rank == 0) side_free(&c.all);
  }
  free(sizes);
}

// The root runs ahead of the leaves.
static void in_a_row(void) {
  int* all = memory_of((size_t)size * sizeof(int));
  for (int i = 0; i < 100; ++i) {
    const int root = i % 50 < 25 ? 0 : i % size;
    for (int r = 0; r < size; ++r) all[r] = rank == root ? i * 100 + r : -1;
    int mine = -1;
    MPI_Scatter(all, 1, MPI_INT, &mine, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK(mine == i * 100 + rank, "number %d: got %d", i, mine);
  }
  free(all);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  make_layouts(layouts);
  every_root();
  every_length();
  unlike_layouts();
  one_block();
  in_a_row();
  free_layouts(layouts);
  return suite_end("scatter");
}
