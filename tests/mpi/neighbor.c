// Collectives of neighbors (MPI 4.0, 8.6 to 8.8): grids, graphs and distributed graphs, with neighbors that come twice,
// that are the rank itself, or that are not there; all forms; data of one length, of several, of a type for each.
// ranks: 1 2 3 5 8
// reference: none, MPICH 4.0.2 matches the blocks of neighbors that come twice in another order in each function
#include "check.h"

enum { kDegreeMax = 8, kRanksMax = 64, kLong = 9000 };
enum { kBlocking, kNonblocking, kPersistent, kForms };

struct Neighbors {
  int in, out;
  int sources[kDegreeMax], destinations[kDegreeMax];
};

// Everybody's, so that each rank knows which block comes to it from where.
struct Topology {
  MPI_Comm comm;
  const char* name;
  int rank, grid;
  struct Neighbors mine;
  struct Neighbors all[kRanksMax];
};

static int number(int from, int block, int i, int call) {
  return from * 100003 + block * 1009 + i * 7 + call * 13;
}

// Which of the source's blocks is this rank's n-th one. In a grid what goes out on one side comes in on the other;
// elsewhere the blocks between two ranks are matched in the order of both lists.
static int block_from(const struct Topology* t, int n) {
  if (t->grid) return n ^ 1;
  const int source = t->mine.sources[n];
  int before = 0;
  for (int i = 0; i < n; ++i) before += t->mine.sources[i] == source;
  const struct Neighbors* theirs = &t->all[source];
  for (int i = 0; i < theirs->out; ++i) {
    if (theirs->destinations[i] == t->rank && before-- == 0) return i;
  }
  return -1;
}

static void check_ints(const struct Topology* t, const char* what, int form, int n, const int* got, int count,
                       int block, int call) {
  const int source = t->mine.sources[n];
  for (int i = 0; i < count; ++i) {
    const int expected = source == MPI_PROC_NULL ? -1 : number(source, block, i, call);
    if (got[i] == expected) continue;
    CHECK(0, "%s, %s, form %d: neighbor %d (rank %d), number %d is %d, not %d", t->name, what, form, n, source, i,
          got[i], expected);
    return;
  }
}

static void end(MPI_Request* request, int form) {
  if (form != kBlocking) MPI_Wait(request, MPI_STATUS_IGNORE);
  if (form == kPersistent) MPI_Request_free(request);
}

static void put(int* memory, int rank, int block, int count, int call) {
  for (int i = 0; i < count; ++i) memory[i] = number(rank, block, i, call);
}

static void reset(int* memory, size_t ints) {
  for (size_t i = 0; i < ints; ++i) memory[i] = -1;
}

static void allgathers(const struct Topology* t, int form, int count) {
  const int in = t->mine.in;
  int* send = memory_of((size_t)count * sizeof *send);
  int* receive = memory_of((size_t)(count * kDegreeMax + kDegreeMax) * sizeof *receive);
  int counts[kDegreeMax], displacements[kDegreeMax];
  MPI_Request request;
  reset(receive, (size_t)(count * kDegreeMax));
  put(send, t->rank, 0, count, form);
  if (form == kBlocking) MPI_Neighbor_allgather(send, count, MPI_INT, receive, count, MPI_INT, t->comm);
  if (form == kNonblocking) MPI_Ineighbor_allgather(send, count, MPI_INT, receive, count, MPI_INT, t->comm, &request);
  if (form == kPersistent) {
    MPI_Neighbor_allgather_init(send, count, MPI_INT, receive, count, MPI_INT, t->comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
  }
  end(&request, form);
  for (int n = 0; n < in; ++n) check_ints(t, "allgather", form, n, receive + n * count, count, 0, form);
  // Ranks send as many as they have in number, from the last place to the first.
  const int mine = count + t->rank % 3;
  send = realloc(send, (size_t)mine * sizeof *send);
  put(send, t->rank, 0, mine, form + 5);
  int at = 0;
  for (int n = in - 1; n >= 0; --n) {
    const int source = t->mine.sources[n];
    counts[n] = count + (source < 0 ? 0 : source % 3);
    displacements[n] = at;
    at += counts[n] + 1;
  }
  receive = realloc(receive, (size_t)(at + 1) * sizeof *receive);
  reset(receive, (size_t)at);
  if (form == kBlocking) MPI_Neighbor_allgatherv(send, mine, MPI_INT, receive, counts, displacements, MPI_INT, t->comm);
  if (form == kNonblocking)
    MPI_Ineighbor_allgatherv(send, mine, MPI_INT, receive, counts, displacements, MPI_INT, t->comm, &request);
  if (form == kPersistent) {
    MPI_Neighbor_allgatherv_init(send, mine, MPI_INT, receive, counts, displacements, MPI_INT, t->comm, MPI_INFO_NULL,
                                 &request);
    MPI_Start(&request);
  }
  end(&request, form);
  for (int n = 0; n < in; ++n) {
    check_ints(t, "allgatherv", form, n, receive + displacements[n], counts[n], 0, form + 5);
    CHECK(receive[displacements[n] + counts[n]] == -1 || n == 0, "%s: the gap behind block %d was written", t->name, n);
  }
  free(send);
  free(receive);
}

// What `from`'s block `block` is long: some are empty.
static int length_of(int from, int block, int count) {
  return (from + block) % 4 == 0 ? 0 : count + (from + block) % 4;
}

static void alltoalls(const struct Topology* t, int form, int count) {
  const int in = t->mine.in, out = t->mine.out;
  const size_t room = (size_t)(count + 5) * kDegreeMax * 2;
  int* send = memory_of(room * sizeof *send);
  int* receive = memory_of(room * sizeof *receive);
  MPI_Request request;
  for (int n = 0; n < out; ++n) put(send + n * count, t->rank, n, count, form);
  reset(receive, room);
  if (form == kBlocking) MPI_Neighbor_alltoall(send, count, MPI_INT, receive, count, MPI_INT, t->comm);
  if (form == kNonblocking) MPI_Ineighbor_alltoall(send, count, MPI_INT, receive, count, MPI_INT, t->comm, &request);
  if (form == kPersistent) {
    MPI_Neighbor_alltoall_init(send, count, MPI_INT, receive, count, MPI_INT, t->comm, MPI_INFO_NULL, &request);
    MPI_Start(&request);
  }
  end(&request, form);
  for (int n = 0; n < in; ++n) {
    const int block = t->mine.sources[n] < 0 ? 0 : block_from(t, n);
    check_ints(t, "alltoall", form, n, receive + n * count, count, block, form);
  }

  int sent[kDegreeMax], sent_at[kDegreeMax], received[kDegreeMax], received_at[kDegreeMax];
  MPI_Aint sent_byte[kDegreeMax], received_byte[kDegreeMax];
  MPI_Datatype types[kDegreeMax], pairs;
  MPI_Type_contiguous(1, MPI_INT, &pairs);
  MPI_Type_commit(&pairs);
  for (int n = 0, at = 0; n < out; ++n) {
    sent[n] = length_of(t->rank, n, count);
    sent_at[n] = at;
    sent_byte[n] = (MPI_Aint)(at * (int)sizeof(int));
    put(send + at, t->rank, n, sent[n], form + 9);
    at += sent[n] + 1;
  }
  for (int n = in - 1, at = 0; n >= 0; --n) {
    const int source = t->mine.sources[n];
    received[n] = source < 0 ? count : length_of(source, block_from(t, n), count);
    received_at[n] = at;
    received_byte[n] = (MPI_Aint)(at * (int)sizeof(int));
    at += received[n] + 1;
  }
  for (int n = 0; n < kDegreeMax; ++n) types[n] = n % 2 == 0 ? MPI_INT : pairs;
  for (int w = 0; w < 2; ++w) {
    reset(receive, room);
    if (form == kBlocking && w == 0)
      MPI_Neighbor_alltoallv(send, sent, sent_at, MPI_INT, receive, received, received_at, pairs, t->comm);
    if (form == kBlocking && w == 1)
      MPI_Neighbor_alltoallw(send, sent, sent_byte, types, receive, received, received_byte, types, t->comm);
    if (form == kNonblocking && w == 0)
      MPI_Ineighbor_alltoallv(send, sent, sent_at, MPI_INT, receive, received, received_at, pairs, t->comm, &request);
    if (form == kNonblocking && w == 1)
      MPI_Ineighbor_alltoallw(send, sent, sent_byte, types, receive, received, received_byte, types, t->comm, &request);
    if (form == kPersistent && w == 0)
      MPI_Neighbor_alltoallv_init(send, sent, sent_at, MPI_INT, receive, received, received_at, pairs, t->comm,
                                  MPI_INFO_NULL, &request);
    if (form == kPersistent && w == 1)
      MPI_Neighbor_alltoallw_init(send, sent, sent_byte, types, receive, received, received_byte, types, t->comm,
                                  MPI_INFO_NULL, &request);
    if (form == kPersistent) MPI_Start(&request);
    end(&request, form);
    for (int n = 0; n < in; ++n) {
      const int block = t->mine.sources[n] < 0 ? 0 : block_from(t, n);
      check_ints(t, w == 0 ? "alltoallv" : "alltoallw", form, n, receive + received_at[n], received[n], block,
                 form + 9);
    }
  }
  MPI_Type_free(&pairs);
  free(send);
  free(receive);
}

// Takes the communicator.
static void check_topology(const char* name, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  struct Topology t = {.comm = comm, .name = name};
  int kind, size;
  MPI_Comm_rank(comm, &t.rank);
  MPI_Comm_size(comm, &size);
  MPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    int dimensions;
    MPI_Cartdim_get(comm, &dimensions);
    t.mine.in = t.mine.out = 2 * dimensions;
    t.grid = 1;
    for (int d = 0; d < dimensions; ++d) MPI_Cart_shift(comm, d, 1, &t.mine.sources[2 * d], &t.mine.sources[2 * d + 1]);
    memcpy(t.mine.destinations, t.mine.sources, sizeof t.mine.sources);
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(comm, t.rank, &t.mine.in);
    MPI_Graph_neighbors(comm, t.rank, kDegreeMax, t.mine.sources);
    t.mine.out = t.mine.in;
    memcpy(t.mine.destinations, t.mine.sources, sizeof t.mine.sources);
  } else {
    int weighted;
    MPI_Dist_graph_neighbors_count(comm, &t.mine.in, &t.mine.out, &weighted);
    MPI_Dist_graph_neighbors(comm, t.mine.in, t.mine.sources, MPI_UNWEIGHTED, t.mine.out, t.mine.destinations,
                             MPI_UNWEIGHTED);
  }
  MPI_Allgather(&t.mine, sizeof t.mine, MPI_BYTE, t.all, sizeof t.mine, MPI_BYTE, comm);
  for (int form = 0; form < kForms; ++form) {
    allgathers(&t, form, 1);
    alltoalls(&t, form, 3);
    allgathers(&t, form, kLong);
    alltoalls(&t, form, kLong);
  }
  MPI_Comm_free(&comm);
}

static void grids(int size) {
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    for (int periodic = 0; periodic < 2; ++periodic) {
      int dims[3] = {0, 0, 0}, periods[3] = {periodic, periodic, periodic};
      MPI_Comm comm;
      MPI_Dims_create(size, dimensions, dims);
      MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &comm);
      check_topology(periodic ? "a grid that goes round" : "a grid", comm);
    }
  }
}

// A ring with a chord from each rank to the one across, and for two ranks the same neighbor three times.
static void graphs(int rank, int size) {
  int index[kRanksMax], edges[kRanksMax * 3];
  for (int i = 0; i < size; ++i) {
    edges[3 * i] = (i + 1) % size;
    edges[3 * i + 1] = (i + size - 1) % size;
    edges[3 * i + 2] = size % 2 == 0 ? (i + size / 2) % size : i;
    index[i] = 3 * i + 3;
  }
  MPI_Comm comm;
  MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &comm);
  check_topology("a graph", comm);
  // Every rank but the last sends twice to rank 0 and once to the next one; the last one has no edge of its own.
  int sources[kDegreeMax], destinations[kDegreeMax], in = 0, out = 0;
  const int many = size < 4 ? size - 1 : 3;
  if (rank < many) {
    destinations[out++] = 0;
    destinations[out++] = (rank + 1) % size;
    destinations[out++] = 0;
  }
  for (int other = many - 1; rank == 0 && other >= 0; --other) sources[in++] = other;
  for (int other = 0; other < many; ++other) {
    if ((other + 1) % size == rank) sources[in++] = other;
    if (rank == 0) sources[in++] = other;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, MPI_UNWEIGHTED, out, destinations, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm);
  check_topology("a distributed graph", comm);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  grids(world_size());
  graphs(world_rank(), world_size());
  return suite_end("neighbor");
}
