// Calls of each collective function with data, on a communicator of its own, whose name states the last rank's mistake:
// a count of elements or their type, in its send buffer where it sends a block of its own, otherwise in its receive
// arguments. The argument: blocking, nonblocking or persistent; or "fits": no mistake, and the two sides of a message
// have one signature with different types; or "root": the last rank passes a rank that is not the root as root, and
// waits for it.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kRanks = 4, kCount = 2, kStride = 8, kHalf = kRanks / 2 };

typedef struct {
  int count, counts[kRanks], places[kRanks], bytes[kRanks];
  MPI_Datatype type, types[kRanks];
  int data[kRanks * kStride];
} Side;

static int rank, form;
static Side out, in;

#define MAKE(Name, iname, ...)                                                      \
  do {                                                                              \
    MPI_Request request = MPI_REQUEST_NULL;                                         \
    if (form == 'b') MPI_##Name(__VA_ARGS__, comm);                                 \
    if (form == 'n') MPI_I##iname(__VA_ARGS__, comm, &request);                     \
    if (form == 'p') MPI_##Name##_init(__VA_ARGS__, comm, MPI_INFO_NULL, &request); \
    if (form == 'p') MPI_Start(&request);                                           \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                          \
    if (form == 'p') MPI_Request_free(&request);                                    \
  } while (0)

#define SEND out.data, out.count, out.type
#define SENDV out.data, out.counts, out.places, out.type
#define SENDW out.data, out.counts, out.bytes, out.types
#define RECV in.data, in.count, in.type
#define RECVV in.data, in.counts, in.places, in.type
#define RECVW in.data, in.counts, in.bytes, in.types

static void bcast(MPI_Comm comm, int root) {
  MAKE(Bcast, bcast, RECV, root);
}
static void gather(MPI_Comm comm, int root) {
  MAKE(Gather, gather, SEND, RECV, root);
}
static void gatherv(MPI_Comm comm, int root) {
  MAKE(Gatherv, gatherv, SEND, RECVV, root);
}
static void scatter(MPI_Comm comm, int root) {
  MAKE(Scatter, scatter, SEND, RECV, root);
}
static void scatterv(MPI_Comm comm, int root) {
  MAKE(Scatterv, scatterv, SENDV, RECV, root);
}
static void allgather(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Allgather, allgather, SEND, RECV);
}
static void allgatherv(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Allgatherv, allgatherv, SEND, RECVV);
}
static void alltoall(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Alltoall, alltoall, SEND, RECV);
}
static void alltoallv(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Alltoallv, alltoallv, SENDV, RECVV);
}
static void alltoallw(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Alltoallw, alltoallw, SENDW, RECVW);
}
static void reduce(MPI_Comm comm, int root) {
  MAKE(Reduce, reduce, out.data, RECV, MPI_SUM, root);
}
static void allreduce(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Allreduce, allreduce, out.data, RECV, MPI_SUM);
}
static void reduce_scatter(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Reduce_scatter, reduce_scatter, out.data, in.data, in.counts, in.type, MPI_SUM);
}
static void reduce_scatter_block(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Reduce_scatter_block, reduce_scatter_block, out.data, RECV, MPI_SUM);
}
static void scan(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Scan, scan, out.data, RECV, MPI_SUM);
}
static void exscan(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Exscan, exscan, out.data, RECV, MPI_SUM);
}
static void neighbor_allgather(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Neighbor_allgather, neighbor_allgather, SEND, RECV);
}
static void neighbor_allgatherv(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Neighbor_allgatherv, neighbor_allgatherv, SEND, RECVV);
}
static void neighbor_alltoall(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Neighbor_alltoall, neighbor_alltoall, SEND, RECV);
}
static void neighbor_alltoallv(MPI_Comm comm, int root) {
  (void)root;
  MAKE(Neighbor_alltoallv, neighbor_alltoallv, SENDV, RECVV);
}
static void neighbor_alltoallw(MPI_Comm comm, int root) {
  MPI_Aint to[kRanks], from[kRanks];
  (void)root;
  for (int at = 0; at < kRanks; ++at) to[at] = out.bytes[at], from[at] = in.bytes[at];
  MAKE(Neighbor_alltoallw, neighbor_alltoallw, out.data, out.counts, to, out.types, in.data, in.counts, from, in.types);
}

typedef struct {
  const char* name;
  void (*make)(MPI_Comm comm, int root);
  int expects;  // the mistake is in the last rank's receive arguments
  int one_group;
} Function;

static const Function functions[] = {{"bcast", bcast, 1, 0},
                                     {"gather", gather, 0, 0},
                                     {"gatherv", gatherv, 0, 0},
                                     {"scatter", scatter, 1, 0},
                                     {"scatterv", scatterv, 1, 0},
                                     {"allgather", allgather, 0, 0},
                                     {"allgatherv", allgatherv, 0, 0},
                                     {"alltoall", alltoall, 0, 0},
                                     {"alltoallv", alltoallv, 0, 0},
                                     {"alltoallw", alltoallw, 0, 0},
                                     {"reduce", reduce, 1, 0},
                                     {"allreduce", allreduce, 1, 0},
                                     {"reduce_scatter", reduce_scatter, 1, 0},
                                     {"reduce_scatter_block", reduce_scatter_block, 1, 0},
                                     {"scan", scan, 1, 1},
                                     {"exscan", exscan, 1, 1},
                                     {"neighbor_allgather", neighbor_allgather, 0, 1},
                                     {"neighbor_allgatherv", neighbor_allgatherv, 0, 1},
                                     {"neighbor_alltoall", neighbor_alltoall, 0, 1},
                                     {"neighbor_alltoallv", neighbor_alltoallv, 0, 1},
                                     {"neighbor_alltoallw", neighbor_alltoallw, 0, 1}};

// `count` elements of `type` for each peer.
static void set(Side* side, int count, MPI_Datatype type) {
  MPI_Aint lower, extent;
  MPI_Type_get_extent(type, &lower, &extent);
  side->count = count;
  side->type = type;
  for (int at = 0; at < kRanks; ++at) {
    side->counts[at] = count;
    side->types[at] = type;
    side->bytes[at] = at * kStride * (int)sizeof(int);
    side->places[at] = side->bytes[at] / (int)extent;
  }
}

static void spoil(Side* side, const char* fault) {
  if (strcmp(fault, "count") == 0) {
    ++side->count;
    ++side->counts[1];
  } else if (strcmp(fault, "type") == 0) {
    side->type = side->types[1] = MPI_FLOAT;
  }
}

static void call(const Function* function, MPI_Comm comm, const char* fault, const char* where, int root) {
  char name[MPI_MAX_OBJECT_NAME];
  snprintf(name, sizeof name, "%s %s %s", function->name, fault, where);
  MPI_Comm_set_name(comm, name);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (rank == kRanks - 1) spoil(function->expects ? &in : &out, fault);
  function->make(comm, root);
  MPI_Comm_free(&comm);
}

static void call_all(MPI_Comm ring, MPI_Comm between, const char* fault, MPI_Datatype sent, int sent_count) {
  for (size_t at = 0; at < sizeof functions / sizeof *functions; ++at) {
    MPI_Comm comm;
    set(&out, sent_count, sent);
    set(&in, kCount, MPI_INT);
    MPI_Comm_dup(ring, &comm);
    call(&functions[at], comm, fault, "inside", 0);
    if (functions[at].one_group) continue;
    set(&out, sent_count, sent);
    set(&in, kCount, MPI_INT);
    MPI_Comm_dup(between, &comm);
    call(&functions[at], comm, fault, "between", rank >= kHalf ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL);
  }
}

// Further mistakes in the calls with vectors.
static void call_more(MPI_Comm ring) {
  static const Function self = {"gather", gather, 0, 0}, vector = {"allgatherv", allgatherv, 0, 0},
                        alone = {"allgather", allgather, 0, 0},
                        edges = {"neighbor_alltoallv", neighbor_alltoallv, 0, 0};
  MPI_Comm comm;
  // The root's block for itself.
  set(&out, rank == 0 ? kCount + 1 : kCount, MPI_INT);
  set(&in, kCount, MPI_INT);
  MPI_Comm_dup(ring, &comm);
  call(&self, comm, "own", "inside", 0);
  set(&out, kCount, MPI_INT);
  MPI_Comm_dup(ring, &comm);
  if (rank == kRanks - 1) ++in.counts[1];
  call(&vector, comm, "vector", "inside", 0);
  set(&in, kCount, MPI_INT);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  call(&alone, comm, "type", "alone", 0);
  set(&out, kCount, MPI_INT);
  // The mistake is in the second of two edges from the last rank to rank 1, which are not adjacent in the lists.
  const int sources[] = {kRanks - 1, 0, kRanks - 1}, destinations[] = {1, 0, 1};
  const int to = rank == kRanks - 1 ? 3 : rank == 0 ? 1 : 0, from = rank == 1 ? 3 : rank == 0 ? 1 : 0;
  const int one[] = {1}, last[] = {kRanks - 1};
  MPI_Dist_graph_create_adjacent(ring, from, rank == 1 ? sources : last, MPI_UNWEIGHTED, to,
                                 rank == kRanks - 1 ? destinations : one, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  if (rank == kRanks - 1) ++out.counts[2];
  call(&edges, comm, "edge", "inside", 0);
}

static void call_other_root(MPI_Comm between) {
  static const Function rooted = {"scatterv", scatterv, 0, 0};
  MPI_Comm comm;
  set(&out, kCount, MPI_INT);
  set(&in, kCount, MPI_INT);
  MPI_Comm_dup(between, &comm);
  call(&rooted, comm, "root", "between", rank >= kHalf ? rank == kRanks - 1 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL);
}

int main(int argc, char** argv) {
  const int round[] = {1}, sizes[] = {kRanks};
  MPI_Comm ring, half, between;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* what = argc > 1 ? argv[1] : "fits";
  MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, round, 0, &ring);
  MPI_Comm_split(MPI_COMM_WORLD, rank / kHalf, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < kHalf ? kHalf : 0, 1, &between);
  if (strcmp(what, "fits") == 0) {
    MPI_Datatype pair;
    MPI_Type_contiguous(kCount, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (const char* next = "bnp"; *next != 0; ++next) {
      form = *next;
      call_all(ring, between, "fits", pair, 1);
    }
    MPI_Type_free(&pair);
  } else if (strcmp(what, "root") == 0) {
    form = 'b';
    call_other_root(between);
  } else {
    form = what[0];
    call_all(ring, between, "count", MPI_INT, kCount);
    call_all(ring, between, "type", MPI_INT, kCount);
    call_more(ring);
  }
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
