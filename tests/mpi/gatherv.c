// Tests of Gatherv and Allgatherv in all forms, and of Gather and Allgather in those that gather.c omits: every root,
// in place, blocks from 0 to 70,000 bytes, uneven and empty ones, with gaps and in reversed order, with different
// layouts on the two sides.
// ranks: 1 2 3 5 8
// reference: 2 3
#include "blocks.h"
#include "collective_forms.h"

static int rank, size;
static Layout layouts[kLayouts];

enum { kGather, kGatherv, kAllgather, kAllgatherv, kFunctions };
static const char* const kNames[] = {"Gather", "Gatherv", "Allgather", "Allgatherv"};

typedef struct {
  int function, root, in_place;  // -1 for functions without a root
  Side all, own;                 // `all` is set on the ranks that receive
} Gather;

static int receives(const Gather* c) {
  return c->root == rank || c->root < 0;
}
static int is_in_place(const Gather* c) {
  return c->in_place && receives(c);
}

static unsigned seed_of(int root, int from, int start) {
  return (unsigned)(root * 61 + from * 7 + start * 3 + 62);
}

static void fill(void* call, int start) {
  Gather* c = call;
  side_clear(&c->own);
  side_keeps(&c->own, 0, seed_of(c->root, rank, start));
  if (!receives(c)) return;
  side_clear(&c->all);
  for (int from = 0; from < size; ++from) side_gets(&c->all, from, seed_of(c->root, from, start));
  if (is_in_place(c)) side_has(&c->all, rank, seed_of(c->root, rank, start));
}

static void begin_rooted(const Gather* c, int form, MPI_Request* request, const void* own, int count,
                         MPI_Datatype type) {
  // Arguments that are significant at the root only are null elsewhere.
  const int here = receives(c);
  void* all = here ? c->all.now : NULL;
  const int* counts = here ? c->all.counts : NULL;
  const int* displs = here ? c->all.displs : NULL;
  const MPI_Count* large_counts = here ? c->all.large_counts : NULL;
  const MPI_Aint* large_displs = here ? c->all.large_displs : NULL;
  const MPI_Datatype all_type = here ? c->all.types[0] : MPI_DATATYPE_NULL;
  const int all_count = here ? c->all.counts[0] : 0;
  if (c->function == kGatherv)
    CALL_IN_FORM(form, Gatherv, gatherv, (own, count, type, all, counts, displs, all_type, c->root),
                 (own, count, type, all, large_counts, large_displs, all_type, c->root), MPI_COMM_WORLD, request);
  else
    CALL_IN_FORM(form, Gather, gather, (own, count, type, all, all_count, all_type, c->root),
                 (own, count, type, all, all_count, all_type, c->root), MPI_COMM_WORLD, request);
}

static void begin(void* call, int form, MPI_Request* request) {
  const Gather* c = call;
  const Side* all = &c->all;
  const void* own = is_in_place(c) ? MPI_IN_PLACE : c->own.now;
  const int count = is_in_place(c) ? 0 : c->own.counts[0];
  const MPI_Datatype type = is_in_place(c) ? MPI_DATATYPE_NULL : c->own.types[0];
  if (c->root >= 0)
    begin_rooted(c, form, request, own, count, type);
  else if (c->function == kAllgatherv)
    CALL_IN_FORM(form, Allgatherv, allgatherv, (own, count, type, all->now, all->counts, all->displs, all->types[0]),
                 (own, count, type, all->now, all->large_counts, all->large_displs, all->types[0]), MPI_COMM_WORLD,
                 request);
  else
    CALL_IN_FORM(form, Allgather, allgather, (own, count, type, all->now, all->counts[0], all->types[0]),
                 (own, count, type, all->now, all->counts[0], all->types[0]), MPI_COMM_WORLD, request);
}

static void check(void* call, int form, int start) {
  Gather* c = call;
  char what[100];
  snprintf(what, sizeof what, "%s%s to %d, start %d", kNames[c->function], c->in_place ? " in place" : "", c->root,
           start);
  side_check(&c->own, what, form);
  if (receives(c)) side_check(&c->all, what, form);
}

static const Steps kSteps = {fill, begin, check};

// MPICH 4.0.2's MPI_Allgatherv on one rank ignores the displacement.
static int has_displacements(void) {
  return size > 1 || on_margay();
}

// Blocks of `bytes`; in Gatherv and Allgatherv of `bytes` times 0, 1, 2 or 3.
static void gather(int function, int form, int root, int bytes, int from, int to, int placing, int in_place) {
  const int uneven = function == kGatherv || function == kAllgatherv;
  int* sizes = memory_of((size_t)size * sizeof(int));
  for (int r = 0; r < size; ++r) sizes[r] = uneven ? (r + root + 1) % 4 * bytes : bytes;
  Gather c = {.function = function, .root = function >= kAllgather ? -1 : root, .in_place = in_place};
  c.own = single_side(&layouts[from], sizes[rank]);
  if (!uneven || !has_displacements()) placing = kInARow;
  if (receives(&c)) c.all = even_side(size, &layouts[to], sizes, placing);
  // MPICH 4.0.2's MPI_Gather_init and MPI_Allgather_init send the contents that the buffers had when the requests were
  // created.
  in_form(&kSteps, &c, form, uneven || on_margay() ? kStarts : 1);
  side_free(&c.own);
  if (receives(&c)) side_free(&c.all);
  free(sizes);
}

static void every_root(void) {
  static const int kBytes[] = {0, 1, 7, 3000};
  for (int form = 0; form < kForms; ++form)
    for (int root = 0; root < size; ++root)
      for (int function = kGather; function <= kGatherv; ++function)
        gather(function, form, root, kBytes[(form + root) % 4], kPlain, kPlain, (form + root) % kPlacings, root % 2);
}

// Calls Allgather and Allgatherv rarely, because Debian's MPICH is slow with more ranks than processors.
static void every_length(void) {
  static const int kBytes[] = {0, 1, 7, 3000, 70000};
  for (int i = 0; i < 5; ++i)
    for (int form = 0; form < kForms; ++form)
      for (int function = (i + form) % 2; function < ((i + form) % 3 ? kAllgather : kFunctions); function += 2)
        gather(function, form, (i + form) % size, kBytes[i], kPlain, kPlain, (i + form) % kPlacings, i % 2);
}

static void unlike_layouts(void) {
  static const int kUnits[] = {1, 429, 10000};
  for (int form = 0; form < kForms; ++form)
    for (int from = 0; from < kLayouts; ++from)
      for (int function = (form + from) % 2; function < (from == (form + 2) % 3 ? kAllgather : kFunctions);
           function += 2) {
        const int to = (from + 1 + form % 2) % kLayouts;
        const int units = kUnits[function == kAllgatherv ? from % 2 : (from + form + function) % 3];
        gather(function, form, (form + from) % size, units * kUnit, from, to, (form + from) % kPlacings, 0);
      }
}

// Only one rank has a block.
static void one_block(void) {
  int* sizes = memory_of((size_t)size * sizeof(int));
  for (int form = 0; form < kForms; ++form)
    for (int all = 0; all < 2; ++all) {
      for (int r = 0; r < size; ++r) sizes[r] = r == size - 1 ? 70000 : 0;
      Gather c = {.function = all ? kAllgatherv : kGatherv, .root = all ? -1 : 0};
      c.own = single_side(&layouts[kPlain], sizes[rank]);
      if (receives(&c)) c.all = even_side(size, &layouts[kPlain], sizes, has_displacements() ? kGaps : kInARow);
      in_form(&kSteps, &c, form, kStarts);
      side_free(&c.own);
      if (receives(&c)) side_free(&c.all);
    }
  free(sizes);
}

// Leaves run ahead of the root.
static void in_a_row(void) {
  int* all = memory_of((size_t)size * sizeof(int));
  int* ones = memory_of((size_t)size * sizeof(int));
  int* displs = memory_of((size_t)size * sizeof(int));
  for (int r = 0; r < size; ++r) ones[r] = 1, displs[r] = size - 1 - r;
  for (int i = 0; i < 100; ++i) {
    const int root = i % 50 < 25 ? 0 : i % size, mine = i * 100 + rank;
    for (int r = 0; r < size; ++r) all[r] = -1;
    MPI_Gatherv(&mine, 1, MPI_INT, all, ones, displs, MPI_INT, root, MPI_COMM_WORLD);
    for (int r = 0; r < size && rank == root; ++r)
      CHECK(all[size - 1 - r] == i * 100 + r, "number %d: %d of rank %d", i, all[size - 1 - r], r);
  }
  free(all);
  free(ones);
  free(displs);
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
  return suite_end("gatherv");
}
