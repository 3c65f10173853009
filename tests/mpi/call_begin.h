// The invocation of a modelled call: the MPI function with the arguments that the model has laid out.
#pragma once

#include "call_model.h"

// The arguments for the sent data and for the received data.
typedef struct {
  void* memory;
  const Blocks* blocks;
  int count;
  MPI_Datatype type;
} Given;
static Given given_of(const Blocks* blocks, int in_place) {
  if (in_place) return (Given){MPI_IN_PLACE, blocks, 0, MPI_DATATYPE_NULL};
  // MPICH 4.0.2's MPI_Ireduce requires a buffer where none is significant.
  if (blocks->n == 0) return (Given){on_margay() ? NULL : (void*)blocks, blocks, 0, MPI_DATATYPE_NULL};
  return (Given){blocks->memory.now, blocks, blocks->counts[0], blocks->types[0]};
}

static void begin_rooted(ModelCall* c) {
  const Group* g = c->group;
  const int gathers = c->function != kScatter && c->function != kScatterv;
  const Given out = given_of(&c->out, c->in_place && c->is_root && gathers);
  const Given in = given_of(&c->in, c->in_place && c->is_root && !gathers);
  const Blocks *to = out.blocks, *from = in.blocks;
  const int root = !g->between || c->is_leaf ? c->root : c->is_root ? MPI_ROOT : MPI_PROC_NULL;
  const MPI_Datatype type = c->reductions[c->which].type;
  switch (c->function) {
    case kBcast:
      CALL_IN_FORM(c->form, Bcast, bcast, (in.memory, c->count, type, root), (in.memory, c->count, type, root), g->comm,
                   &c->request);
      break;
    case kGather:
      CALL_IN_FORM(c->form, Gather, gather, (out.memory, out.count, out.type, in.memory, in.count, in.type, root),
                   (out.memory, out.count, out.type, in.memory, in.count, in.type, root), g->comm, &c->request);
      break;
    case kGatherv:
      CALL_IN_FORM(c->form, Gatherv, gatherv,
                   (out.memory, out.count, out.type, in.memory, from->counts, from->displs, in.type, root),
                   (out.memory, out.count, out.type, in.memory, from->large_counts, from->large_displs, in.type, root),
                   g->comm, &c->request);
      break;
    case kScatter:
      CALL_IN_FORM(c->form, Scatter, scatter, (out.memory, out.count, out.type, in.memory, in.count, in.type, root),
                   (out.memory, out.count, out.type, in.memory, in.count, in.type, root), g->comm, &c->request);
      break;
    case kScatterv:
      CALL_IN_FORM(c->form, Scatterv, scatterv,
                   (out.memory, to->counts, to->displs, out.type, in.memory, in.count, in.type, root),
                   (out.memory, to->large_counts, to->large_displs, out.type, in.memory, in.count, in.type, root),
                   g->comm, &c->request);
      break;
    default: {
      const MPI_Op op = c->reductions[c->which].op;
      CALL_IN_FORM(c->form, Reduce, reduce, (out.memory, in.memory, c->count, type, op, root),
                   (out.memory, in.memory, c->count, type, op, root), g->comm, &c->request);
    }
  }
}

static void begin_moving(ModelCall* c) {
  const MPI_Comm comm = c->group->comm;
  const Given out = given_of(&c->out, c->in_place), in = given_of(&c->in, 0);
  const Blocks *to = out.blocks, *from = in.blocks;
  switch (c->function) {
    case kAllgather:
      CALL_IN_FORM(c->form, Allgather, allgather, (out.memory, out.count, out.type, in.memory, in.count, in.type),
                   (out.memory, out.count, out.type, in.memory, in.count, in.type), comm, &c->request);
      break;
    case kAllgatherv:
      CALL_IN_FORM(c->form, Allgatherv, allgatherv,
                   (out.memory, out.count, out.type, in.memory, from->counts, from->displs, in.type),
                   (out.memory, out.count, out.type, in.memory, from->large_counts, from->large_displs, in.type), comm,
                   &c->request);
      break;
    case kAlltoall:
      CALL_IN_FORM(c->form, Alltoall, alltoall, (out.memory, out.count, out.type, in.memory, in.count, in.type),
                   (out.memory, out.count, out.type, in.memory, in.count, in.type), comm, &c->request);
      break;
    case kAlltoallv:
      CALL_IN_FORM(c->form, Alltoallv, alltoallv,
                   (out.memory, to->counts, to->displs, out.type, in.memory, from->counts, from->displs, in.type),
                   (out.memory, to->large_counts, to->large_displs, out.type, in.memory, from->large_counts,
                    from->large_displs, in.type),
                   comm, &c->request);
      break;
    default:
      CALL_IN_FORM(
          c->form, Alltoallw, alltoallw,
          (out.memory, to->counts, to->byte_displs, to->types, in.memory, from->counts, from->byte_displs, from->types),
          (out.memory, to->large_counts, to->large_byte_displs, to->types, in.memory, from->large_counts,
           from->large_byte_displs, from->types),
          comm, &c->request);
  }
}

static void begin_reducing(ModelCall* c) {
  const Group* g = c->group;
  const MPI_Datatype type = c->reductions[c->which].type;
  const MPI_Op op = c->reductions[c->which].op;
  const void* out = c->in_place ? MPI_IN_PLACE : c->out.memory.now;
  void* in = c->in.memory.now;
  switch (c->function) {
    case kAllreduce:
      CALL_IN_FORM(c->form, Allreduce, allreduce, (out, in, c->count, type, op), (out, in, c->count, type, op), g->comm,
                   &c->request);
      break;
    case kReduceScatter:
      CALL_IN_FORM(c->form, Reduce_scatter, reduce_scatter, (out, in, c->scattered, type, op),
                   (out, in, c->large_scattered, type, op), g->comm, &c->request);
      break;
    case kReduceScatterBlock:
      CALL_IN_FORM(c->form, Reduce_scatter_block, reduce_scatter_block, (out, in, c->scattered[0], type, op),
                   (out, in, c->large_scattered[0], type, op), g->comm, &c->request);
      break;
    case kScan:
      CALL_IN_FORM(c->form, Scan, scan, (out, in, c->count, type, op), (out, in, c->count, type, op), g->comm,
                   &c->request);
      break;
    default:
      CALL_IN_FORM(c->form, Exscan, exscan, (out, in, c->count, type, op), (out, in, c->count, type, op), g->comm,
                   &c->request);
  }
}

static void begin_barrier(ModelCall* c) {
  const MPI_Comm comm = c->group->comm;
  if (c->form % 3 == kBlocking) MPI_Barrier(comm);
  if (c->form % 3 == kNonblocking) MPI_Ibarrier(comm, &c->request);
  if (c->form % 3 == kPersistent) MPI_Barrier_init(comm, MPI_INFO_NULL, &c->request);
}

// Fills the call's buffers, makes the call, and starts it the first time.
static void begin_call(ModelCall* c) {
  // The data of a persistent call may be written after the request is created.
  const int late = is_persistent(c->form) && (c->starts > 1 || on_margay());
  plan(c);
  if (!late) fill_call(c, 0);
  if (c->function == kBarrier)
    begin_barrier(c);
  else if (is_rooted(c))
    begin_rooted(c);
  else if (c->function < kReduce)
    begin_moving(c);
  else
    begin_reducing(c);
  if (late) fill_call(c, 0);
  if (is_persistent(c->form)) MPI_Start(&c->request);
}

static void end_call(ModelCall* c) {
  if (c->request != MPI_REQUEST_NULL) MPI_Request_free(&c->request);
  blocks_free(&c->out);
  blocks_free(&c->in);
}
