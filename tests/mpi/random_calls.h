// A drawn collective call and its invocation in each form, for programs of random collective calls
// (collectives_random.c, collectives_threads.c, ../faults/collectives.c).
#pragma once

#include <mpi.h>
#include <stddef.h>

enum {
  kBarrier,
  kBcast,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,
  kAlltoallw,
  kReduce,
  kAllreduce,
  kReduceScatter,
  kReduceScatterBlock,
  kScan,
  kExscan,
  kOperations
};
enum { kBlocking, kNonblocking, kPersistent };
enum { kComms = 4, kRanksMax = 64, kGap = -777, kOfAll = 1000 };

static const char* const kNames[] = {"barrier",   "bcast",     "gather",     "gatherv",        "scatter",
                                     "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
                                     "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
                                     "scan",      "exscan"};

// A communicator as its members see it. In an intracommunicator both sides are the same.
struct Comm {
  MPI_Comm comm;
  int inter, rank, size, peers;
  int may_fail;                            // calls may end with MPIX_ERR_PROC_FAILED, as a member dies
  int mine[kRanksMax], theirs[kRanksMax];  // ranks in the world
};

// An element has `ints` numbers, at these offsets within `extent`.
struct Type {
  MPI_Datatype type;
  int ints, extent, at[2];
};

struct Call {
  int number, operation, form, in_place, root, count, reversed;
  int alike;  // blocks between two ranks have the same length both ways, because some rank's call is in place
  const struct Comm* comm;
  const struct Type* type;
  MPI_Op op;
  int user;  // the operation is the composition of affine maps
  int *send, *receive;
  size_t send_ints, receive_ints;
  int counts[2][kRanksMax], displacements[2][kRanksMax], bytes[2][kRanksMax];  // of the send, of the receive
  MPI_Datatype types[kRanksMax];
  MPI_Request request;
  int code;  // the result of the last function
};

static int is_rooted(int operation) {
  return operation == kBcast || operation == kGather || operation == kGatherv || operation == kScatter ||
         operation == kScatterv || operation == kReduce;
}

// This rank's part in a rooted call: the root, one of its peers, or neither.
enum { kIsRoot, kIsLeaf, kIsNobody };
static int part_of(const struct Call* call) {
  if (call->root == MPI_PROC_NULL) return kIsNobody;
  if (call->comm->inter) return call->root == MPI_ROOT ? kIsRoot : kIsLeaf;
  return call->root == call->comm->rank ? kIsRoot : kIsLeaf;
}

// The three forms of one call: its arguments before the communicator are `...`.
#define MAKE(Name, iname, ...)                                                                                \
  do {                                                                                                        \
    if (call->form == kBlocking) call->code = MPI_##Name(__VA_ARGS__, call->comm->comm);                      \
    if (call->form == kNonblocking) call->code = MPI_I##iname(__VA_ARGS__, call->comm->comm, &call->request); \
    if (call->form == kPersistent)                                                                            \
      call->code = MPI_##Name##_init(__VA_ARGS__, call->comm->comm, MPI_INFO_NULL, &call->request);           \
  } while (0)

static void make(struct Call* call) {
  const MPI_Datatype t = call->type->type;
  const int rooted = is_rooted(call->operation), root_is_me = rooted && part_of(call) == kIsRoot;
  const int scatters = call->operation == kScatter || call->operation == kScatterv;
  const int here = call->in_place && (!rooted || root_is_me);
  const void* s = here && !scatters ? MPI_IN_PLACE : call->send;
  void* r = here && scatters ? MPI_IN_PLACE : call->receive;
  int(*n)[kRanksMax] = call->counts, (*d)[kRanksMax] = call->displacements, (*b)[kRanksMax] = call->bytes;
  switch (call->operation) {
    case kBarrier:
      if (call->form == kBlocking) call->code = MPI_Barrier(call->comm->comm);
      if (call->form == kNonblocking) call->code = MPI_Ibarrier(call->comm->comm, &call->request);
      if (call->form == kPersistent) call->code = MPI_Barrier_init(call->comm->comm, MPI_INFO_NULL, &call->request);
      break;
    case kBcast:
      MAKE(Bcast, bcast, r, call->count, t, call->root);
      break;
    case kGather:
      MAKE(Gather, gather, s, call->count, t, r, call->count, t, call->root);
      break;
    case kGatherv:
      MAKE(Gatherv, gatherv, s, n[0][0], t, r, n[1], d[1], t, call->root);
      break;
    case kScatter:
      MAKE(Scatter, scatter, s, call->count, t, r, call->count, t, call->root);
      break;
    case kScatterv:
      MAKE(Scatterv, scatterv, s, n[0], d[0], t, r, n[1][0], t, call->root);
      break;
    case kAllgather:
      MAKE(Allgather, allgather, s, call->count, t, r, call->count, t);
      break;
    case kAllgatherv:
      MAKE(Allgatherv, allgatherv, s, n[0][0], t, r, n[1], d[1], t);
      break;
    case kAlltoall:
      MAKE(Alltoall, alltoall, s, call->count, t, r, call->count, t);
      break;
    case kAlltoallv:
      MAKE(Alltoallv, alltoallv, s, n[0], d[0], t, r, n[1], d[1], t);
      break;
    case kAlltoallw:
      MAKE(Alltoallw, alltoallw, s, n[0], b[0], call->types, r, n[1], b[1], call->types);
      break;
    case kReduce:
      MAKE(Reduce, reduce, s, r, call->count, t, call->op, call->root);
      break;
    case kAllreduce:
      MAKE(Allreduce, allreduce, s, r, call->count, t, call->op);
      break;
    case kReduceScatter:
      MAKE(Reduce_scatter, reduce_scatter, s, r, n[1], t, call->op);
      break;
    case kReduceScatterBlock:
      MAKE(Reduce_scatter_block, reduce_scatter_block, s, r, call->count, t, call->op);
      break;
    case kScan:
      MAKE(Scan, scan, s, r, call->count, t, call->op);
      break;
    case kExscan:
      MAKE(Exscan, exscan, s, r, call->count, t, call->op);
      break;
    default:
      break;
  }
}

// With large counts. Only blocking calls have this form, because the arrays of the others must exist until they are
// complete, and these end with the function that creates them.
#define MAKE_C(Name, iname, ...) call->code = MPI_##Name##_c(__VA_ARGS__, call->comm->comm)

static void make_large(struct Call* call) {
  const MPI_Datatype t = call->type->type;
  const int rooted = is_rooted(call->operation), root_is_me = rooted && part_of(call) == kIsRoot;
  const int scatters = call->operation == kScatter || call->operation == kScatterv;
  const int here = call->in_place && (!rooted || root_is_me);
  const void* s = here && !scatters ? MPI_IN_PLACE : call->send;
  void* r = here && scatters ? MPI_IN_PLACE : call->receive;
  MPI_Count wide_n[2][kRanksMax];
  MPI_Aint wide_d[2][kRanksMax], wide_b[2][kRanksMax];
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < call->comm->peers || i < call->comm->size; ++i) {
      wide_n[side][i] = call->counts[side][i];
      wide_d[side][i] = call->displacements[side][i];
      wide_b[side][i] = call->bytes[side][i];
    }
  }
  switch (call->operation) {
    case kBcast:
      MAKE_C(Bcast, bcast, r, call->count, t, call->root);
      break;
    case kGather:
      MAKE_C(Gather, gather, s, call->count, t, r, call->count, t, call->root);
      break;
    case kGatherv:
      MAKE_C(Gatherv, gatherv, s, wide_n[0][0], t, r, wide_n[1], wide_d[1], t, call->root);
      break;
    case kScatter:
      MAKE_C(Scatter, scatter, s, call->count, t, r, call->count, t, call->root);
      break;
    case kScatterv:
      MAKE_C(Scatterv, scatterv, s, wide_n[0], wide_d[0], t, r, wide_n[1][0], t, call->root);
      break;
    case kAllgather:
      MAKE_C(Allgather, allgather, s, call->count, t, r, call->count, t);
      break;
    case kAllgatherv:
      MAKE_C(Allgatherv, allgatherv, s, wide_n[0][0], t, r, wide_n[1], wide_d[1], t);
      break;
    case kAlltoall:
      MAKE_C(Alltoall, alltoall, s, call->count, t, r, call->count, t);
      break;
    case kAlltoallv:
      MAKE_C(Alltoallv, alltoallv, s, wide_n[0], wide_d[0], t, r, wide_n[1], wide_d[1], t);
      break;
    case kAlltoallw:
      MAKE_C(Alltoallw, alltoallw, s, wide_n[0], wide_b[0], call->types, r, wide_n[1], wide_b[1], call->types);
      break;
    case kReduce:
      MAKE_C(Reduce, reduce, s, r, call->count, t, call->op, call->root);
      break;
    case kAllreduce:
      MAKE_C(Allreduce, allreduce, s, r, call->count, t, call->op);
      break;
    case kReduceScatter:
      MAKE_C(Reduce_scatter, reduce_scatter, s, r, wide_n[1], t, call->op);
      break;
    case kReduceScatterBlock:
      MAKE_C(Reduce_scatter_block, reduce_scatter_block, s, r, call->count, t, call->op);
      break;
    case kScan:
      MAKE_C(Scan, scan, s, r, call->count, t, call->op);
      break;
    case kExscan:
      MAKE_C(Exscan, exscan, s, r, call->count, t, call->op);
      break;
    default:
      break;
  }
}
