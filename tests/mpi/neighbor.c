// Tests of neighborhood collectives in all forms, on grids of one to three dimensions, on graphs, and on distributed
// graphs with uneven degrees, several edges between two ranks, edges from a rank to itself, and ranks without
// neighbors. Of several edges from one rank to another on a graph, the first in the sender's list is the first in the
// receiver's. On a grid a block that is sent downwards is received from above, also if both neighbors of a dimension
// are the same rank (MPI 4.0, 8.6).
// ranks: 1 2 3 5 8
// reference: 2 3
#include "blocks.h"
#include "collective_forms.h"

static int rank, size;
static Layout layouts[kLayouts];

enum { kRanksMost = 16, kDegreeMost = 64 };

// The neighbors of all ranks, the same table on each rank. Beyond the edge of a grid they are MPI_PROC_NULL.
typedef struct {
  const char* name;
  int is_grid;
  MPI_Comm comm;  // MPI_COMM_NULL on ranks outside of it
  int ins[kRanksMost], outs[kRanksMost];
  int in[kRanksMost][kDegreeMost], out[kRanksMost][kDegreeMost];
} Topology;

static int occurrences(const int* list, int before, int of) {
  int count = 0;
  for (int i = 0; i < before; ++i) count += list[i] == of;
  return count;
}

// The index of the edge from the `k`-th source of `to` among that source's outgoing edges. Requires: the source is not
// MPI_PROC_NULL.
static int edge_at_source(const Topology* t, int to, int k) {
  const int from = t->in[to][k];
  if (t->is_grid) return k ^ 1;
  int left = occurrences(t->in[to], k, from);
  for (int j = 0; j < t->outs[from]; ++j)
    if (t->out[from][j] == to && left-- == 0) return j;
  CHECK(0, "%s: from %d to %d are fewer edges than to %d from %d", t->name, from, to, to, from);
  return 0;
}

enum { kAllgather, kAllgatherv, kAlltoall, kAlltoallv, kAlltoallw, kFunctions };
static const char* const kNames[] = {"Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall",
                                     "Neighbor_alltoallv", "Neighbor_alltoallw"};

typedef struct {
  const Topology* topology;
  int function, bytes;
  Side out, in;
  const Layout *out_layout, *in_layout;  // of all blocks, except for the alltoallw
} Exchange;

static int is_gather(const Exchange* c) {
  return c->function <= kAllgatherv;
}

static unsigned seed_of(const Exchange* c, int from, int edge, int start) {
  return (unsigned)(from * 23 + (is_gather(c) ? 0 : edge * 5) + start * 101 + c->bytes);
}

static int amount(const Exchange* c, int from, int edge) {
  if (c->function == kAllgather || c->function == kAlltoall) return c->bytes;
  return (from + (is_gather(c) ? 0 : edge) + 1) % 3 * c->bytes;
}

static void fill(void* call, int start) {
  Exchange* c = call;
  const Topology* t = c->topology;
  side_clear(&c->out);
  side_clear(&c->in);
  for (int j = 0; j < c->out.peers; ++j) side_keeps(&c->out, j, seed_of(c, rank, j, start));
  for (int k = 0; k < t->ins[rank]; ++k) {
    const int from = t->in[rank][k];
    if (from != MPI_PROC_NULL) side_gets(&c->in, k, seed_of(c, from, edge_at_source(t, rank, k), start));
  }
}

static void begin(void* call, int form, MPI_Request* request) {
  const Exchange* c = call;
  const Side *out = &c->out, *in = &c->in;
  const MPI_Comm comm = c->topology->comm;
  const int each = c->bytes / (int)c->in_layout->data, given = c->bytes / (int)c->out_layout->data;
  switch (c->function) {
    case kAllgather:
      CALL_IN_FORM(form, Neighbor_allgather, neighbor_allgather,
                   (out->now, out->counts[0], c->out_layout->type, in->now, each, c->in_layout->type),
                   (out->now, out->counts[0], c->out_layout->type, in->now, each, c->in_layout->type), comm, request);
      break;
    case kAllgatherv:
      CALL_IN_FORM(form, Neighbor_allgatherv, neighbor_allgatherv,
                   (out->now, out->counts[0], c->out_layout->type, in->now, in->counts, in->displs, c->in_layout->type),
                   (out->now, out->counts[0], c->out_layout->type, in->now, in->large_counts, in->large_displs,
                    c->in_layout->type),
                   comm, request);
      break;
    case kAlltoall:
      CALL_IN_FORM(form, Neighbor_alltoall, neighbor_alltoall,
                   (out->now, given, c->out_layout->type, in->now, each, c->in_layout->type),
                   (out->now, given, c->out_layout->type, in->now, each, c->in_layout->type), comm, request);
      break;
    case kAlltoallv:
      CALL_IN_FORM(form, Neighbor_alltoallv, neighbor_alltoallv,
                   (out->now, out->counts, out->displs, c->out_layout->type, in->now, in->counts, in->displs,
                    c->in_layout->type),
                   (out->now, out->large_counts, out->large_displs, c->out_layout->type, in->now, in->large_counts,
                    in->large_displs, c->in_layout->type),
                   comm, request);
      break;
    default:
      CALL_IN_FORM(form, Neighbor_alltoallw, neighbor_alltoallw,
                   (out->now, out->counts, out->large_byte_displs, out->types, in->now, in->counts,
                    in->large_byte_displs, in->types),
                   (out->now, out->large_counts, out->large_byte_displs, out->types, in->now, in->large_counts,
                    in->large_byte_displs, in->types),
                   comm, request);
  }
}

static void check(void* call, int form, int start) {
  const Exchange* c = call;
  char what[200];
  snprintf(what, sizeof what, "%s of %d bytes on %s, start %d", kNames[c->function], c->bytes, c->topology->name,
           start);
  side_check(&c->in, what, form);
  side_check(&c->out, what, form);
}

static const Steps kSteps = {fill, begin, check};

// Whether a rank has the same source twice; with `apart`, in two different dimensions of a grid.
static int has_source_twice(const Topology* t, int apart) {
  for (int r = 0; r < size; ++r)
    for (int k = 0; k < t->ins[r]; ++k) {
      const int before = apart ? k / 2 * 2 : k;
      if (t->in[r][k] != MPI_PROC_NULL && occurrences(t->in[r], before, t->in[r][k]) > 0) return 1;
    }
  return 0;
}
static int uneven_degrees(const Topology* t) {
  for (int r = 0; r < size; ++r)
    if (t->ins[r] != t->outs[r]) return 1;
  return 0;
}

// MPICH 4.0.2: of several edges the alltoall matches the first with the last, on graphs too; the alltoallv and
// alltoallw match the first with the first, on grids too; and the alltoallw with int counts confuses the two degrees.
static int mpich_errs(const Topology* t, int function, int form) {
  if (function == kAlltoallw && form < kLargeBlocking && uneven_degrees(t)) return 1;
  if (function == kAlltoall) return has_source_twice(t, t->is_grid);
  return function > kAlltoall && t->is_grid && has_source_twice(t, 0);
}

static void exchange(const Topology* t, int function, int form, int bytes, int out_layout, int in_layout) {
  if (!on_margay() && mpich_errs(t, function, form)) return;
  Exchange c = {.topology = t, .function = function, .bytes = bytes};
  const Layout *outs[kDegreeMost], *ins[kDegreeMost];
  int going[kDegreeMost], coming[kDegreeMost];
  for (int j = 0; j < t->outs[rank]; ++j) {
    going[j] = amount(&c, rank, j);
    outs[j] = &layouts[function == kAlltoallw ? (out_layout + j) % kLayouts : out_layout];
  }
  for (int k = 0; k < t->ins[rank]; ++k) {
    const int from = t->in[rank][k];
    coming[k] = from == MPI_PROC_NULL ? bytes : amount(&c, from, edge_at_source(t, rank, k));
    ins[k] = &layouts[function == kAlltoallw ? (in_layout + k) % kLayouts : in_layout];
  }
  c.out_layout = &layouts[out_layout];
  c.in_layout = &layouts[in_layout];
  const int placed = function == kAllgather || function == kAlltoall ? kInARow : form % kPlacings;
  if (is_gather(&c))
    c.out = single_side(&layouts[out_layout], amount(&c, rank, 0));
  else
    c.out = side_of(t->outs[rank], outs, going, placed == kInARow ? kInARow : kPlacings - placed);
  c.in = side_of(t->ins[rank], ins, coming, placed);
  in_form(&kSteps, &c, form, kStarts);
  side_free(&c.out);
  side_free(&c.in);
}

static void all_functions(const Topology* t, int number) {
  static const int kBytes[] = {kUnit, 429 * kUnit, 0, 3 * kUnit, 5000 * kUnit};
  if (t->comm == MPI_COMM_NULL) return;
  for (int function = 0; function < kFunctions; ++function)
    for (int again = 0; again < 3; ++again) {
      const int form = (number + function + 2 * again) % kForms;
      const int bytes = kBytes[(number * 3 + function + 2 * again) % 5];
      exchange(t, function, form, bytes, again ? form % kLayouts : kPlain, again ? function % kLayouts : kPlain);
    }
}

// The rank at `coordinates`, the last varying fastest; MPI_PROC_NULL outside.
static int grid_rank(int dims, const int* extent, const int* periodic, const int* coordinates) {
  int at = 0;
  for (int d = 0; d < dims; ++d) {
    int c = coordinates[d];
    if (periodic[d]) c = (c + extent[d]) % extent[d];
    if (c < 0 || c >= extent[d]) return MPI_PROC_NULL;
    at = at * extent[d] + c;
  }
  return at;
}

static void grid(const char* name, int number, int dims, const int* extent, const int* periodic) {
  static Topology t;
  int all = 1;
  for (int d = 0; d < dims; ++d) all *= extent[d];
  t = (Topology){.name = name, .is_grid = 1};
  for (int r = 0; r < all; ++r) {
    int coordinates[3];
    for (int d = dims - 1, rest = r; d >= 0; rest /= extent[d--]) coordinates[d] = rest % extent[d];
    // For each dimension the lower neighbor and then the higher one.
    for (int d = 0; d < dims; ++d)
      for (int step = -1; step <= 1; step += 2) {
        coordinates[d] += step;
        t.in[r][t.ins[r]++] = t.out[r][t.outs[r]] = grid_rank(dims, extent, periodic, coordinates);
        ++t.outs[r];
        coordinates[d] -= step;
      }
  }
  MPI_Cart_create(MPI_COMM_WORLD, dims, extent, periodic, 0, &t.comm);
  all_functions(&t, number);
  if (t.comm != MPI_COMM_NULL) MPI_Comm_free(&t.comm);
}

static void grids(void) {
  const int half = size > 1 ? size / 2 : 1, two = size > 1 ? 2 : 1, quarter = size > 3 ? size / 4 : 1;
  grid("a ring", 0, 1, (int[]){size}, (int[]){1});
  grid("a row", 1, 1, (int[]){size}, (int[]){0});
  grid("a torus", 2, 2, (int[]){two, half}, (int[]){1, 1});
  grid("a cylinder one wide", 3, 2, (int[]){size, 1}, (int[]){0, 1});
  grid("a plane", 4, 2, (int[]){half, two}, (int[]){0, 0});
  grid("a space", 5, 3, (int[]){two, quarter, two <= size / quarter / two ? two : 1}, (int[]){1, 0, 1});
  grid("a space with rings of one", 6, 3, (int[]){1, half, two}, (int[]){1, 1, 0});
}

// The ranks of a star and a ring, two edges between 0 and 1, and one from 0 to itself; with more than two ranks the
// last one is not in the graph.
static void graph(int number) {
  static Topology t;
  int index[kRanksMost], edges[kRanksMost * kDegreeMost], count = 0;
  const int nodes = size > 2 ? size - 1 : size;
  t = (Topology){.name = "a graph"};
  for (int r = 0; r < nodes; ++r) {
    for (int other = nodes - 1; other >= 0; --other) {
      const int between = (r == 0) + (other == 0) + (r + other == 1) + (abs(r - other) == 1);
      const int times = r == other ? r == 0 : between > 2 ? 2 : between > 0;
      for (int i = 0; i < times; ++i) t.in[r][t.ins[r]++] = t.out[r][t.outs[r]++] = other;
    }
    for (int i = 0; i < t.outs[r]; ++i) edges[count++] = t.out[r][i];
    index[r] = count;
  }
  MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 0, &t.comm);
  all_functions(&t, number);
  if (t.comm != MPI_COMM_NULL) MPI_Comm_free(&t.comm);
}

// The number of edges from one rank to another: two to the next, one from even ranks to themselves, one from 0 to all,
// one from every third to the last; with more than two ranks, none from or to the middle one.
static int edges_between(int from, int to) {
  if (size > 2 && (from == size / 2 || to == size / 2)) return 0;
  return (to == (from + 1) % size ? 2 : 0) + (from == to && from % 2 == 0) + (from == 0) +
         (from % 3 == 1 && to == size - 1);
}

static void distributed_graph(int number) {
  static Topology t;
  t = (Topology){.name = "a distributed graph"};
  // Destinations from the last to the first, sources from the first on; several edges are adjacent in one of the lists
  // and separate in the other.
  for (int r = 0; r < size; ++r) {
    for (int other = size - 1; other >= 0; --other)
      for (int i = 0; i < edges_between(r, other); ++i) t.out[r][t.outs[r]++] = other;
    for (int i = 0; i < 4; ++i)
      for (int other = 0; other < size; ++other)
        if (i < edges_between(other, r)) t.in[r][t.ins[r]++] = other;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, t.ins[rank], t.in[rank], MPI_UNWEIGHTED, t.outs[rank], t.out[rank],
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &t.comm);
  all_functions(&t, number);
  MPI_Comm_free(&t.comm);
}

// Null buffers, as of empty vectors: a star in which the first sends and the others receive.
static void null_without_neighbors(void) {
  int out[kRanksMost], in[kRanksMost], to[kRanksMost];
  MPI_Comm star;
  for (int i = 0; i < size; ++i) out[i] = 100 + i, in[i] = -1, to[i] = i;
  const int outs = rank == 0 ? size - 1 : 0, ins = rank == 0 ? 0 : 1;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, (int[]){0}, MPI_UNWEIGHTED, outs, to + 1, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &star);
  const void* given = outs ? out : NULL;
  void* taken = ins ? in : NULL;
  MPI_Neighbor_alltoall(given, 1, MPI_INT, taken, 1, MPI_INT, star);
  CHECK(in[0] == (ins ? 99 + rank : -1), "Neighbor_alltoall: %d", in[0]);
  MPI_Neighbor_allgather(given, 1, MPI_INT, taken, 1, MPI_INT, star);
  CHECK(in[0] == (ins ? 100 : -1), "Neighbor_allgather: %d", in[0]);
  MPI_Comm_free(&star);
}

// A topology without neighbors, and a ring in which the first rank is far ahead.
static void without_neighbors_and_in_a_row(void) {
  static Topology t;
  t = (Topology){.name = "nobody"};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, t.in[0], MPI_UNWEIGHTED, 0, t.out[0], MPI_UNWEIGHTED, MPI_INFO_NULL,
                                 0, &t.comm);
  for (int function = 0; function < kFunctions; ++function) exchange(&t, function, function, kUnit, kPlain, kPlain);
  MPI_Comm_free(&t.comm);
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){0}, 0, &ring);
  for (int i = 0; i < 50; ++i) {
    const int mine = rank * 1000 + i;
    int both[2] = {-1, -1};
    MPI_Neighbor_allgather(&mine, 1, MPI_INT, both, 1, MPI_INT, ring);
    CHECK(both[0] == (rank > 0 ? mine - 1000 : -1), "number %d: below %d", i, both[0]);
    CHECK(both[1] == (rank < size - 1 ? mine + 1000 : -1), "number %d: above %d", i, both[1]);
  }
  MPI_Comm_free(&ring);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  rank = world_rank();
  size = world_size();
  make_layouts(layouts);
  grids();
  graph(7);
  distributed_graph(8);
  distributed_graph(10);
  if (on_margay()) null_without_neighbors();  // MPICH 4.0.2 rejects them
  without_neighbors_and_in_a_row();
  free_layouts(layouts);
  return suite_end("neighbor");
}
