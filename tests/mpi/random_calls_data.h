// The data of a drawn call, for programs of random collective calls: the input of each rank, and the expected result.
// Every rank can compute the input of every other.
#pragma once

#include "check.h"
#include "random_calls.h"

static unsigned mix(unsigned a, unsigned b, unsigned c) {
  unsigned x = a * 0x9e3779b9u + b * 0x85ebca6bu + c * 0xc2b2ae35u + 1;
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  return x * 0x846ca68bu ^ x >> 13;
}

// Number `index` of the data from `from` for `to`; small, so that sums of reals are exact too.
static int value(const struct Call* call, int from, int to, int index) {
  return (int)(mix((unsigned)call->number * 1013u + (unsigned)index, (unsigned)from, (unsigned)to) % 1000u);
}

// (a, b) stands for x -> a x + b; left first. Not commutative.
static void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  const unsigned* left = in;
  unsigned* right = inout;
  (void)type;
  for (int i = 0; i < *length; ++i) {
    const unsigned a = right[2 * i], b = right[2 * i + 1];
    right[2 * i] = left[2 * i] * a;
    right[2 * i + 1] = left[2 * i + 1] * a + b;
  }
}

static int* filled(size_t ints) {
  int* memory = memory_of(ints * sizeof(int));
  for (size_t i = 0; i < ints; ++i) memory[i] = kGap;
  return memory;
}

static void put(const struct Call* call, int* memory, int from, int to, int count) {
  const struct Type* t = call->type;
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < t->ints; ++k) memory[i * t->extent + t->at[k]] = value(call, from, to, i * t->ints + k);
  }
}

static void check_block(const struct Call* call, const int* memory, int from, int to, int count) {
  const struct Type* t = call->type;
  for (int i = 0; i < count * t->ints; ++i) {
    const int got = memory[i / t->ints * t->extent + t->at[i % t->ints]];
    if (got == value(call, from, to, i)) continue;
    CHECK(0, "call %d, %s, form %d, comm of %d: number %d from rank %d is %d, not %d", call->number,
          kNames[call->operation], call->form, call->comm->size, i, from, got, value(call, from, to, i));
    return;
  }
}

static unsigned of_two(MPI_Op op, unsigned left, unsigned right) {
  if (op == MPI_MAX) return left > right ? left : right;
  if (op == MPI_MIN) return left < right ? left : right;
  return op == MPI_BXOR ? left ^ right : left + right;
}

// The combination of ranks[0] to ranks[last] in element `index`.
static void reduce_reference(const struct Call* call, const int* ranks, int last, int index, unsigned result[2]) {
  const int ints = call->type->ints;
  for (int k = 0; k < ints; ++k) result[k] = (unsigned)value(call, ranks[0], kOfAll, index * ints + k);
  for (int rank = 1; rank <= last; ++rank) {
    unsigned next[2] = {0, 0};
    for (int k = 0; k < ints; ++k) next[k] = (unsigned)value(call, ranks[rank], kOfAll, index * ints + k);
    if (call->user) {
      int one = 1;
      compose(result, next, &one, NULL);
    }
    for (int k = 0; k < ints; ++k) {
      result[k] = call->user ? next[k] : of_two(call->op, result[k], next[k]);
    }
  }
}

static void check_reduced(const struct Call* call, int last, int first_element, int count) {
  for (int i = 0; i < count; ++i) {
    unsigned expected[2];
    reduce_reference(call, call->comm->theirs, last, first_element + i, expected);
    for (int k = 0; k < call->type->ints; ++k) {
      const unsigned got = (unsigned)call->receive[i * call->type->extent + call->type->at[k]];
      if (got == expected[k]) continue;
      CHECK(0, "call %d, %s, form %d, comm of %d: element %d is %u, not %u", call->number, kNames[call->operation],
            call->form, call->comm->size, first_element + i, got, expected[k]);
      return;
    }
  }
}

static int is_varying(const struct Call* call) {
  return call->operation == kGatherv || call->operation == kScatterv || call->operation == kAllgatherv ||
         call->operation == kAlltoallv || call->operation == kAlltoallw;
}

// The number of elements from `from` for `to`. In place both directions are equal.
static int count_between(const struct Call* call, int from, int to) {
  if (!is_varying(call)) return call->count;
  const unsigned low = (unsigned)(from < to ? from : to), high = (unsigned)(from < to ? to : from);
  const unsigned drawn =
      call->alike ? mix((unsigned)call->number, low, high) : mix((unsigned)call->number, (unsigned)from, (unsigned)to);
  return drawn % 3 == 0 ? 0 : (int)(drawn % (unsigned)(call->count + 1));
}

// Counts and offsets of the blocks of one side; the block of peer i has counts[i] elements.
static size_t lay_out(struct Call* call, int side, int blocks) {
  const int gap = is_varying(call) ? 1 : 0;
  int at = 0;
  for (int n = 0; n < blocks; ++n) {
    const int i = is_varying(call) && call->reversed ? blocks - 1 - n : n;
    call->displacements[side][i] = at;
    call->bytes[side][i] = at * call->type->extent * (int)sizeof(int);
    at += call->counts[side][i] + gap;
  }
  return (size_t)at * (size_t)call->type->extent;
}

static int* block(const struct Call* call, int side, int i) {
  return (side == 0 ? call->send : call->receive) + call->displacements[side][i] * call->type->extent;
}

static void prepare_buffers(struct Call* call) {
  const struct Comm* c = call->comm;
  const int me = c->mine[c->rank], operation = call->operation;
  const int root = is_rooted(operation) && part_of(call) == kIsRoot;
  const int gathers = operation == kGather || operation == kGatherv;
  const int scatters = operation == kScatter || operation == kScatterv;
  const int to_all = operation == kAllgather || operation == kAllgatherv;
  const int each = operation == kAlltoall || operation == kAlltoallv || operation == kAlltoallw;
  for (int i = 0; i < c->peers; ++i) {
    const int peer = c->theirs[i];
    call->counts[0][i] = count_between(call, me, gathers || to_all ? kOfAll : peer);
    call->counts[1][i] = count_between(call, peer, gathers || to_all ? kOfAll : me);
    call->types[i] = call->type->type;
  }
  // One block for all, or of the root.
  if (gathers || to_all) call->counts[0][0] = count_between(call, me, kOfAll);
  if (scatters && !root) {
    call->counts[1][0] = part_of(call) == kIsNobody ? 0 : count_between(call, c->theirs[call->root], me);
  } else if (scatters) {
    call->counts[1][0] = count_between(call, me, me);
  }
  call->send_ints = lay_out(call, 0, each || scatters ? c->peers : 1);
  call->receive_ints = lay_out(call, 1, each || to_all || gathers ? c->peers : 1);
  const size_t row = (size_t)call->count * (size_t)call->type->extent;
  if (operation >= kReduce || operation == kBcast) call->send_ints = call->receive_ints = row;
  if (operation == kReduceScatter || operation == kReduceScatterBlock) {
    int all = 0;
    for (int i = 0; i < c->size; ++i) {
      call->counts[1][i] = operation == kReduceScatterBlock
                               ? call->count
                               : (int)(mix(9, (unsigned)i, (unsigned)call->number) % 5u) * call->count / 4;
      all += call->counts[1][i];
    }
    call->send_ints = call->receive_ints = (size_t)all * (size_t)call->type->extent;
  }
  call->send = filled(call->send_ints);
  call->receive = filled(call->receive_ints);
}

// Writes this rank's input, at each start.
static void put_data(struct Call* call) {
  const struct Comm* c = call->comm;
  const int me = c->mine[c->rank], operation = call->operation;
  const int from_receive = call->in_place;
  for (size_t i = 0; i < call->receive_ints; ++i) call->receive[i] = kGap;
  if (operation >= kReduce) {
    const int all = (int)(call->send_ints / (size_t)call->type->extent);
    put(call, from_receive ? call->receive : call->send, me, kOfAll, all);
  } else if (operation == kBcast) {
    if (part_of(call) == kIsRoot) put(call, call->receive, me, kOfAll, call->count);
  } else if (operation == kGather || operation == kGatherv || operation == kAllgather || operation == kAllgatherv) {
    if (!from_receive) {
      put(call, call->send, me, kOfAll, call->counts[0][0]);
    } else {
      put(call, block(call, 1, c->rank), me, kOfAll, call->counts[1][c->rank]);
    }
  } else if (operation != kBarrier) {
    const int all_to_all = operation >= kAlltoall;
    if (!all_to_all && part_of(call) != kIsRoot) return;
    const int side = all_to_all && from_receive ? 1 : 0;
    for (int i = 0; i < c->peers; ++i) put(call, block(call, side, i), me, c->theirs[i], call->counts[side][i]);
  }
}

static void check_result(struct Call* call) {
  const struct Comm* c = call->comm;
  const int me = c->mine[c->rank], part = is_rooted(call->operation) ? part_of(call) : kIsLeaf;
  switch (call->operation) {
    case kBcast:
      if (part != kIsNobody) {
        const int root = part == kIsRoot ? me : c->theirs[call->root];
        check_block(call, call->receive, root, kOfAll, call->count);
      }
      break;
    case kGather:
    case kGatherv:
      if (part != kIsRoot) break;
      // fall through
    case kAllgather:
    case kAllgatherv:
      for (int i = 0; i < c->peers; ++i) check_block(call, block(call, 1, i), c->theirs[i], kOfAll, call->counts[1][i]);
      break;
    case kScatter:
    case kScatterv:
      if (part == kIsLeaf) check_block(call, call->receive, c->theirs[call->root], me, call->counts[1][0]);
      if (part == kIsRoot && !c->inter && !call->in_place) check_block(call, call->receive, me, me, call->counts[1][0]);
      break;
    case kAlltoall:
    case kAlltoallv:
    case kAlltoallw:
      for (int i = 0; i < c->peers; ++i) check_block(call, block(call, 1, i), c->theirs[i], me, call->counts[1][i]);
      break;
    case kReduce:
      if (part == kIsRoot) check_reduced(call, c->peers - 1, 0, call->count);
      break;
    case kAllreduce:
      check_reduced(call, c->peers - 1, 0, call->count);
      break;
    case kReduceScatter:
    case kReduceScatterBlock: {
      int before = 0;
      for (int i = 0; i < c->rank; ++i) before += call->counts[1][i];
      check_reduced(call, c->peers - 1, before, call->counts[1][c->rank]);
      break;
    }
    case kScan:
      check_reduced(call, c->rank, 0, call->count);
      break;
    case kExscan:
      if (c->rank > 0) check_reduced(call, c->rank - 1, 0, call->count);
      break;
    default:
      break;
  }
}
