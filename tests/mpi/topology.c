// Tests of topologies: grids with their coordinates, shifts and sub-grids, graphs, distributed graphs, Dims_create;
// copies by Comm_dup.
// ranks: 1 4 6
// reference: 6
#include <limits.h>

#include "check.h"

#define FAILS(expected_class, call)                                                                                \
  do {                                                                                                             \
    const int code_ = (call);                                                                                      \
    CHECK(class_of(code_) == (expected_class), "%s: class %d, expected " #expected_class, #call, class_of(code_)); \
  } while (0)

enum { kTag = 2 };

static int kind_of(MPI_Comm comm) {
  int kind = 0;
  MPI_Topo_test(comm, &kind);
  return kind;
}

static void print_dims(void) {
  if (world_rank() != 0) return;
  const int nodes[] = {1, 7, 12, 36, 60, 97, 128, 360, 1000, 2520, 3696, 4096};
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; ++i) {
    printf("%d:", nodes[i]);
    for (int ndims = 1; ndims <= 5; ++ndims) {
      int dims[5] = {0};
      MPI_Dims_create(nodes[i], ndims, dims);
      for (int k = 0; k < ndims; ++k) printf("%c%d", k ? 'x' : ' ', dims[k]);
    }
    int given[3] = {0, 1, 0};
    MPI_Dims_create(nodes[i], 3, given);
    printf(" %dx%dx%d\n", given[0], given[1], given[2]);
  }
  // Several grids of five dimensions are equally even: prints the chosen one.
  const int even[] = {18000, 19800, 98784};
  for (size_t i = 0; i < sizeof even / sizeof *even; ++i) {
    int dims[5] = {0};
    MPI_Dims_create(even[i], 5, dims);
    printf("%d: %dx%dx%dx%dx%d\n", even[i], dims[0], dims[1], dims[2], dims[3], dims[4]);
  }
}

// A torus in the first dimension, open in the second.
static void grid(int rank, int size) {
  int dims[2] = {0, 0}, periods[2] = {1, 0};
  MPI_Dims_create(size, 2, dims);
  MPI_Comm cart;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  CHECK(kind_of(cart) == MPI_CART, "a grid is %d", kind_of(cart));
  int ndims = 0, seen[2], wraps[2], mine[2], coords[2], there = -1;
  MPI_Cartdim_get(cart, &ndims);
  MPI_Cart_get(cart, 2, seen, wraps, mine);
  CHECK(ndims == 2 && seen[0] == dims[0] && seen[1] == dims[1], "%d dimensions, %d by %d", ndims, seen[0], seen[1]);
  CHECK(wraps[0] && !wraps[1], "periods");
  CHECK(mine[0] == rank / dims[1] && mine[1] == rank % dims[1], "I am at %d, %d", mine[0], mine[1]);
  for (int i = 0; i < size; ++i) {
    MPI_Cart_coords(cart, i, 2, coords);
    MPI_Cart_rank(cart, coords, &there);
    CHECK(there == i, "coordinates of %d lead to %d", i, there);
    coords[0] -= 3 * dims[0];
    MPI_Cart_rank(cart, coords, &there);
    CHECK(there == i, "wrapped coordinates of %d lead to %d", i, there);
  }
  int from, to, expected_from, expected_to, in = -1;
  MPI_Cart_shift(cart, 1, 1, &from, &to);
  expected_from = mine[1] == 0 ? MPI_PROC_NULL : rank - 1;
  expected_to = mine[1] == dims[1] - 1 ? MPI_PROC_NULL : rank + 1;
  CHECK(from == expected_from && to == expected_to, "open shift: %d and %d", from, to);
  MPI_Cart_shift(cart, 0, -1, &from, &to);
  expected_to = (rank - dims[1] + size) % size;
  expected_from = (rank + dims[1]) % size;
  CHECK(from == expected_from && to == expected_to, "wrapped shift: %d and %d", from, to);
  MPI_Sendrecv(&rank, 1, MPI_INT, to, kTag, &in, 1, MPI_INT, from, kTag, cart, MPI_STATUS_IGNORE);
  CHECK(in == from, "received %d from %d", in, from);

  MPI_Comm copy, rows, point;
  MPI_Comm_dup(cart, &copy);
  CHECK(kind_of(copy) == MPI_CART, "the duplicate of a grid is %d", kind_of(copy));
  const int along_row[2] = {0, 1}, nowhere[2] = {0, 0};
  MPI_Cart_sub(copy, along_row, &rows);
  MPI_Comm_free(&copy);
  int members = 0, row_rank = -1;
  MPI_Comm_size(rows, &members);
  MPI_Comm_rank(rows, &row_rank);
  MPI_Cart_get(rows, 1, seen, wraps, coords);
  CHECK(members == dims[1] && row_rank == mine[1], "row: %d of %d", row_rank, members);
  CHECK(seen[0] == dims[1] && !wraps[0] && coords[0] == mine[1], "row: %d at %d", seen[0], coords[0]);
  int sum = 0;
  MPI_Allreduce(&mine[0], &sum, 1, MPI_INT, MPI_SUM, rows);
  CHECK(sum == mine[0] * members, "row: another row's rank is in it");
  MPI_Cart_sub(cart, nowhere, &point);
  if (rank == 0 || on_margay()) {  // MPICH 4.0.2 returns MPI_COMM_NULL to the others
    MPI_Comm_size(point, &members);
    MPI_Cartdim_get(point, &ndims);
    CHECK(members == 1 && ndims == 0, "a point: %d ranks, %d dimensions", members, ndims);
    MPI_Comm_free(&point);
  }
  MPI_Comm_free(&rows);
  MPI_Comm_free(&cart);

  // The grid has no position for some ranks.
  dims[0] = size > 1 ? size - 1 : 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 1, &cart);
  CHECK((cart == MPI_COMM_NULL) == (rank >= dims[0]), "a grid of all but one");
  if (cart != MPI_COMM_NULL) MPI_Comm_free(&cart);
  MPI_Cart_map(MPI_COMM_WORLD, 1, dims, periods, &there);
  CHECK(there == (rank < dims[0] ? rank : MPI_UNDEFINED), "mapped to %d", there);
}

// A ring without the last rank, if there is more than one.
static void graph(int rank, int size) {
  const int nodes = size > 1 ? size - 1 : 1;
  int ends[8], edges[16], count = 0;
  for (int i = 0; i < nodes; ++i) {
    edges[count++] = (i + 1) % nodes;
    edges[count++] = (i + nodes - 1) % nodes;
    ends[i] = count;
  }
  MPI_Comm ring;
  int mapped = -1;
  MPI_Graph_map(MPI_COMM_WORLD, nodes, ends, edges, &mapped);
  CHECK(mapped == (rank < nodes ? rank : MPI_UNDEFINED), "mapped to %d", mapped);
  MPI_Graph_create(MPI_COMM_WORLD, nodes, ends, edges, 0, &ring);
  CHECK((ring == MPI_COMM_NULL) == (rank >= nodes), "the wrong ranks got the graph");
  if (ring == MPI_COMM_NULL) return;
  MPI_Comm copy;
  MPI_Comm_dup(ring, &copy);
  CHECK(kind_of(copy) == MPI_GRAPH, "a graph is %d", kind_of(copy));
  int seen_nodes = 0, seen_edges = 0, seen_ends[8], seen[16], neighbors[2] = {-1, -1};
  MPI_Graphdims_get(copy, &seen_nodes, &seen_edges);
  CHECK(seen_nodes == nodes && seen_edges == count, "%d nodes, %d edges", seen_nodes, seen_edges);
  MPI_Graph_get(copy, 8, 16, seen_ends, seen);
  CHECK(memcmp(seen_ends, ends, (size_t)nodes * sizeof *ends) == 0, "index");
  CHECK(memcmp(seen, edges, (size_t)count * sizeof *edges) == 0, "edges");
  MPI_Graph_neighbors_count(copy, rank, &count);
  MPI_Graph_neighbors(copy, rank, 2, neighbors);
  CHECK(count == 2 && neighbors[0] == (rank + 1) % nodes && neighbors[1] == (rank + nodes - 1) % nodes,
        "%d neighbors: %d, %d", count, neighbors[0], neighbors[1]);
  if (on_margay()) {  // results are truncated to the arrays; MPICH 4.0.2 writes past them, or rejects the call
    int few[2] = {-1, -1}, end = -1, edge = -1;
    CHECK(MPI_Graph_neighbors(copy, rank, 1, few) == MPI_SUCCESS && few[0] == neighbors[0] && few[1] == -1,
          "of one neighbor: %d, and beyond it %d", few[0], few[1]);
    CHECK(MPI_Graph_get(copy, 1, 1, &end, &edge) == MPI_SUCCESS && end == ends[0] && edge == edges[0],
          "of one node %d, of one edge %d", end, edge);
  }
  MPI_Comm_free(&copy);
  MPI_Comm_free(&ring);
}

static int ascending(const void* a, const void* b) {
  return *(const int*)a - *(const int*)b;
}

// The neighbors of a weighted graph without their weights; and with arrays for one neighbor only.
static void some_of_the_neighbors(MPI_Comm comm, const int* in, const int* out) {
  const int mark = *MPI_UNWEIGHTED;
  int sources[2] = {-7, -7}, destinations[2] = {-7, -7}, in_weights[2] = {-7, -7}, out_weights[2] = {-7, -7};
  MPI_Dist_graph_neighbors(comm, 2, sources, MPI_UNWEIGHTED, 2, destinations, MPI_UNWEIGHTED);
  CHECK(sources[1] == in[1] && destinations[1] == out[1] && *MPI_UNWEIGHTED == mark, "without weights");
  if (!on_margay()) return;  // MPICH 4.0.2 rejects smaller arrays
  sources[1] = destinations[1] = -7;
  MPI_Dist_graph_neighbors(comm, 1, sources, in_weights, 1, destinations, out_weights);
  CHECK(sources[0] == in[0] && sources[1] == -7 && in_weights[1] == -7, "room for one source");
  CHECK(destinations[0] == out[0] && destinations[1] == -7 && out_weights[1] == -7, "room for one destination");
}

// Edges from each rank to its next and its second next, declared by both ends, then by rank 0 alone.
static void dist_graph(int rank, int size) {
  const int out[2] = {(rank + 1) % size, (rank + 2) % size},
            in[2] = {(rank + size - 1) % size, (rank + 2 * size - 2) % size};
  const int out_weights[2] = {10 * rank, 10 * rank + 1}, in_weights[2] = {10 * in[0], 10 * in[1] + 1};
  MPI_Comm comm, copy;
  int sources[2], source_weights[2], destinations[2], destination_weights[2], indegree = 0, outdegree = 0, weighted = 0;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, in, in_weights, 2, out, out_weights, MPI_INFO_NULL, 0, &comm);
  MPI_Comm_dup(comm, &copy);
  CHECK(kind_of(copy) == MPI_DIST_GRAPH, "a distributed graph is %d", kind_of(copy));
  MPI_Dist_graph_neighbors_count(copy, &indegree, &outdegree, &weighted);
  CHECK(indegree == 2 && outdegree == 2 && weighted, "%d in, %d out", indegree, outdegree);
  MPI_Dist_graph_neighbors(copy, 2, sources, source_weights, 2, destinations, destination_weights);
  CHECK(memcmp(sources, in, sizeof in) == 0 && memcmp(source_weights, in_weights, sizeof in) == 0, "sources");
  CHECK(memcmp(destinations, out, sizeof out) == 0 && memcmp(destination_weights, out_weights, sizeof out) == 0,
        "destinations");
  some_of_the_neighbors(copy, in, out);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);

  int all[8], degrees[8], targets[16], weights[16];
  for (int i = 0; i < size; ++i) {
    all[i] = i;
    degrees[i] = 2;
    for (int k = 0; k < 2; ++k) {
      targets[2 * i + k] = (i + 1 + k) % size;
      weights[2 * i + k] = 10 * i + k;
    }
  }
  MPI_Dist_graph_create(MPI_COMM_WORLD, rank == 0 ? size : 0, all, degrees, targets,
                        rank == 0 ? weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm);
  MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
  CHECK(indegree == 2 && outdegree == 2 && weighted, "by rank 0: %d in, %d out", indegree, outdegree);
  MPI_Dist_graph_neighbors(comm, 2, sources, source_weights, 2, destinations, destination_weights);
  for (int k = 0; k < 2; ++k) {  // in an order that the standard does not define; a weight identifies its edge
    const int source = source_weights[k] / 10, step = source_weights[k] % 10 + 1;
    CHECK(source == sources[k] && (source + step) % size == rank, "source %d with %d", sources[k], source_weights[k]);
    CHECK((rank + destination_weights[k] % 10 + 1) % size == destinations[k], "destination %d", destinations[k]);
  }
  CHECK(destination_weights[0] != destination_weights[1], "one destination twice");
  MPI_Comm_free(&comm);

  // Each rank declares its incoming edge, without weights.
  const int one = 1, from = in[0];
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &from, &one, &rank, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
  CHECK(indegree == 1 && outdegree == 1 && !weighted, "ring: %d in, %d out", indegree, outdegree);
  MPI_Dist_graph_neighbors(comm, 1, sources, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED);
  CHECK(sources[0] == in[0] && destinations[0] == out[0], "ring: %d, %d", sources[0], destinations[0]);
  MPI_Comm_free(&comm);

  // Edges from all ranks to rank 0.
  const int zero = 0;
  int heard[8];
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &one, &zero, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &weighted);
  CHECK(indegree == (rank == 0 ? size : 0) && outdegree == 1, "star: %d in, %d out", indegree, outdegree);
  MPI_Dist_graph_neighbors(comm, indegree, heard, MPI_UNWEIGHTED, 1, destinations, MPI_UNWEIGHTED);
  qsort(heard, (size_t)indegree, sizeof *heard, ascending);
  for (int i = 0; i < indegree; ++i) CHECK(heard[i] == i, "star: %d", heard[i]);
  MPI_Comm_free(&comm);
}

static void wrong(int size) {
  const MPI_Comm world = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  MPI_Comm cart, made = MPI_COMM_SELF;
  int dims[2] = {size, 1}, open[2] = {0, 0}, coords[2] = {size, 0}, value = 5, other = 5;
  int seen[6] = {-1, -1, -1, -1, -1, -1};
  MPI_Cart_create(world, 2, dims, open, 0, &cart);
  CHECK(kind_of(world) == MPI_UNDEFINED, "the world has a topology");
  const int large[2] = {size, 2}, indivisible[2] = {size + 1, 0}, beyond[1] = {size}, one[1] = {1};
  MPI_Comm grid = MPI_COMM_SELF;
  FAILS(MPI_ERR_ARG, MPI_Cart_create(world, 2, large, open, 0, &grid));
  CHECK(grid == MPI_COMM_NULL, "a grid that is too large is %x", (unsigned)grid);
  FAILS(MPI_ERR_ARG, MPI_Cart_create(world, -1, dims, open, 0, &grid));
  FAILS(MPI_ERR_COMM, MPI_Cart_create(MPI_COMM_NULL, 2, dims, open, 0, &grid));
  FAILS(MPI_ERR_DIMS, MPI_Dims_create(size, 2, (int[2]){indivisible[0], 0}));
  FAILS(MPI_ERR_DIMS, MPI_Dims_create(size, 2, (int[2]){-1, 0}));
  FAILS(MPI_ERR_DIMS, MPI_Dims_create(6, 1, (int[1]){4}));
  int given[2] = {3, 1};
  CHECK(MPI_Dims_create(6, 2, given) == MPI_SUCCESS && given[0] == 3 && given[1] == 1, "nothing to choose: %d x %d",
        given[0], given[1]);
  FAILS(MPI_ERR_RANK, MPI_Cart_coords(cart, size, 2, coords));
  FAILS(MPI_ERR_ARG, MPI_Cart_coords(cart, 0, 1, coords));
  FAILS(MPI_ERR_ARG, MPI_Cart_rank(cart, coords, &value));
  FAILS(MPI_ERR_ARG, MPI_Cart_shift(cart, 2, 1, &value, &other));
  FAILS(MPI_ERR_ARG, MPI_Cart_shift(cart, -1, 1, &value, &other));
  if (on_margay()) {  // MPICH 4.0.2 accepts these, ends with a signal, or has changed something
    CHECK(made == MPI_COMM_SELF && value == 5 && other == 5, "a call that failed changed something");
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cartdim_get(world, &value));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Cart_sub(world, dims, &made));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Graphdims_get(cart, &value, &other));
    FAILS(MPI_ERR_TOPOLOGY, MPI_Dist_graph_neighbors_count(cart, &value, &value, &other));
    CHECK(MPI_Cart_get(cart, 1, seen, seen + 2, seen + 4) == MPI_SUCCESS && seen[0] == size && seen[1] == -1 &&
              seen[3] == -1 && seen[5] == -1,
          "a grid's first dimension: %d, beyond it %d %d %d", seen[0], seen[1], seen[3], seen[5]);
    CHECK(MPI_Cart_get(cart, 0, NULL, NULL, NULL) == MPI_SUCCESS, "none of a grid's dimensions");
    FAILS(MPI_ERR_ARG, MPI_Cart_get(cart, -1, dims, open, coords));
    FAILS(MPI_ERR_DIMS, MPI_Cart_create(world, 1, (int[1]){0}, open, 0, &grid));
    FAILS(MPI_ERR_ARG, MPI_Dims_create(0, 1, &value));
    FAILS(MPI_ERR_ARG, MPI_Graph_create(world, 1, one, beyond, 0, &made));
    FAILS(MPI_ERR_ARG, MPI_Dist_graph_create_adjacent(world, 1, open, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY,
                                                      MPI_INFO_NULL, 0, &made));
    FAILS(MPI_ERR_ARG,
          MPI_Dist_graph_create_adjacent(world, 1, open, one, 1, open, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
    // A displacement whose negative is outside of int's range.
    const int ring = 3;
    MPI_Comm three;
    if (size >= ring) {
      MPI_Cart_create(world, 1, &ring, (int[1]){1}, 0, &three);
      if (three != MPI_COMM_NULL) {
        int place = -1;
        MPI_Comm_rank(three, &place);
        MPI_Cart_shift(three, 0, INT_MIN, &value, &other);  // -2^31 is 1 in a ring of three
        CHECK(other == (place + 1) % ring && value == (place + 2) % ring, "shift by INT_MIN: %d, %d", value, other);
        MPI_Comm_free(&three);
      }
      value = other = 5;
    }
    FAILS(MPI_ERR_ARG, MPI_Graph_create(world, size + 1, one, one, 0, &made));
    FAILS(MPI_ERR_RANK, MPI_Dist_graph_create_adjacent(world, 1, beyond, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                                       MPI_INFO_NULL, 0, &made));
    FAILS(MPI_ERR_ARG,
          MPI_Dist_graph_create(world, 1, open, (int[1]){-1}, open, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
  }
  MPI_Comm_free(&cart);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), size = world_size();
  print_dims();
  grid(rank, size);
  graph(rank, size);
  dist_graph(rank, size);
  wrong(size);
  return suite_end("topology");
}
