// Random collectives against a reference that each rank computes by itself (MPI 4.0, chapter 6): every operation, in
// all forms, up to 16 under way at once, on four communicators, one of them between two groups. All ranks draw the same
// calls from the seed, so everybody knows what everybody sends.
//   collectives_random [calls [seed]]
// ranks: 1 2 3 5 8
#include "collectives_random.h"
#include "check.h"

static unsigned mix(unsigned a, unsigned b, unsigned c) {
  unsigned x = a * 0x9e3779b9u + b * 0x85ebca6bu + c * 0xc2b2ae35u + 1;
  x ^= x >> 16;
  x *= 0x7feb352du;
  x ^= x >> 15;
  return x * 0x846ca68bu ^ x >> 13;
}

// Number `index` of what `from` has for `to`; small, so that sums of reals would be exact too.
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

// What ranks[first] to ranks[last] come to in element `index`.
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
      if (!call->user)
        next[k] = call->op == MPI_MAX ? (next[k] > result[k] ? next[k] : result[k]) : next[k] + result[k];
      result[k] = next[k];
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

// Elements that `from` has for `to`. In place both ways are alike.
static int count_between(const struct Call* call, int from, int to) {
  if (!is_varying(call)) return call->count;
  const unsigned low = (unsigned)(from < to ? from : to), high = (unsigned)(from < to ? to : from);
  const unsigned drawn =
      call->alike ? mix((unsigned)call->number, low, high) : mix((unsigned)call->number, (unsigned)from, (unsigned)to);
  return drawn % 3 == 0 ? 0 : (int)(drawn % (unsigned)(call->count + 1));
}

// Counts and places of the blocks of one side, whose peer i gets or gives counts[i].
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

// What this rank gives, at each start.
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

static void finish(struct Call* call) {
  if (call->form != kBlocking) MPI_Wait(&call->request, MPI_STATUS_IGNORE);
  check_result(call);
  // Again, with other data in the same buffers.
  for (int again = 0; call->form == kPersistent && again < 2; ++again) {
    call->number += 1000000;
    put_data(call);
    MPI_Start(&call->request);
    MPI_Wait(&call->request, MPI_STATUS_IGNORE);
    check_result(call);
  }
  if (call->form == kPersistent) MPI_Request_free(&call->request);
  free(call->send);
  free(call->receive);
}

static void draw(struct Call* call, int number, unsigned seed, const struct Comm* comms, int comms_made,
                 const struct Type* types, MPI_Op user) {
  unsigned drawn[10];
  for (unsigned i = 0; i < 10; ++i) drawn[i] = mix(seed, (unsigned)number, i) >> 3;
  memset(call, 0, sizeof *call);
  call->number = number;
  call->comm = &comms[drawn[0] % (unsigned)comms_made];
  do {
    call->operation = (int)(drawn[1]++ % kOperations);
  } while (call->comm->inter && (call->operation == kScan || call->operation == kExscan));
  // MPICH 4.0.2's persistent collectives send what the buffers held before MPI_Start, or end with an internal error;
  // some of those between two groups that do not block deliver nothing.
  call->form = (int)(drawn[2] % (on_margay() ? 3 : call->comm->inter ? 1 : 2));
  static const int counts[] = {0, 1, 2, 5, 17, 100, 700, 5000};
  call->count = counts[drawn[3] % 8];
  const int reduces = call->operation >= kReduce;
  call->type = &types[drawn[4] % 2];
  call->op = drawn[5] % 2 ? MPI_SUM : MPI_MAX;
  if (reduces) {
    call->user = drawn[5] % 3 == 0;
    call->type = call->user ? &types[2] : &types[0];
    if (call->user) call->op = user;
  }
  call->reversed = (int)(drawn[6] % 2);
  call->in_place = !call->comm->inter && call->operation != kBarrier && call->operation != kBcast && drawn[7] % 4 == 0;
  call->alike = call->in_place;
  if (call->operation == kReduceScatter && call->comm->inter) call->operation = kReduceScatterBlock;
  // Both groups' rows are as long.
  if (call->operation == kReduceScatterBlock && call->comm->inter)
    call->count = call->comm->peers * (call->count % 100);
  if (!is_rooted(call->operation)) return;
  if (!call->comm->inter) {
    call->root = (int)(drawn[8] % (unsigned)call->comm->size);
    // Its own block is in place at the root only; with MPICH 4.0.2 not in a reduction to another root than 0.
    if (call->root != call->comm->rank) call->in_place = 0;
    if (call->operation == kReduce && call->root != 0 && !on_margay()) call->in_place = 0;
    return;
  }
  // One of all ranks, which is of this group or of the other.
  const int all = call->comm->size + call->comm->peers;
  int chosen = (int)(drawn[8] % (unsigned)all);
  const int mine_first = call->comm->mine[0] < call->comm->theirs[0];
  const int first = mine_first ? call->comm->size : call->comm->peers;
  const int in_mine = (chosen < first) == mine_first;
  if (chosen >= first) chosen -= first;
  call->root = !in_mine ? chosen : chosen == call->comm->rank ? MPI_ROOT : MPI_PROC_NULL;
}

static void know(struct Comm* comm) {
  MPI_Group world, mine, theirs;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_test_inter(comm->comm, &comm->inter);
  MPI_Comm_rank(comm->comm, &comm->rank);
  MPI_Comm_size(comm->comm, &comm->size);
  MPI_Comm_group(comm->comm, &mine);
  if (comm->inter) {
    MPI_Comm_remote_group(comm->comm, &theirs);
  } else {
    MPI_Comm_group(comm->comm, &theirs);
  }
  MPI_Group_size(theirs, &comm->peers);
  int ranks[kRanksMax];
  for (int i = 0; i < kRanksMax; ++i) ranks[i] = i;
  MPI_Group_translate_ranks(mine, comm->size, ranks, world, comm->mine);
  MPI_Group_translate_ranks(theirs, comm->peers, ranks, world, comm->theirs);
  MPI_Group_free(&world);
  MPI_Group_free(&mine);
  MPI_Group_free(&theirs);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int calls = argc > 1 ? atoi(argv[1]) : 400;
  const unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
  const int rank = world_rank(), size = world_size();
  struct Type types[3] = {
      {MPI_INT, 1, 1, {0, 0}}, {MPI_DATATYPE_NULL, 2, 3, {0, 2}}, {MPI_DATATYPE_NULL, 2, 2, {0, 1}}};
  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 3 * (MPI_Aint)sizeof(int), &types[1].type);
  MPI_Type_contiguous(2, MPI_INT, &types[2].type);
  MPI_Type_commit(&types[1].type);
  MPI_Type_commit(&types[2].type);
  MPI_Type_free(&vector);
  MPI_Op user;
  MPI_Op_create(compose, 0, &user);
  struct Comm comms[kComms];
  int made = 3;
  comms[0].comm = MPI_COMM_WORLD;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[1].comm);
  MPI_Comm half;
  const int low = rank < (size + 2) / 3;
  MPI_Comm_split(MPI_COMM_WORLD, low, rank, &half);
  comms[2].comm = half;
  if (size > 1) {
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? (size + 2) / 3 : 0, 7, &comms[3].comm);
    made = 4;
  }
  for (int i = 0; i < made; ++i) know(&comms[i]);
  struct Call* open[kAtOnce];
  int opened = 0;
  for (int number = 0; number < calls; ++number) {
    struct Call* call = memory_of(sizeof *call);
    draw(call, number, seed, comms, made, types, user);
    prepare_buffers(call);
    put_data(call);
    if (call->form == kBlocking && call->operation != kBarrier && mix(seed, (unsigned)number, 55) % 3 == 0) {
      make_large(call);
    } else {
      make(call);
    }
    if (call->form == kPersistent) MPI_Start(&call->request);
    if (call->form == kBlocking) {
      finish(call);
      free(call);
      continue;
    }
    open[opened++] = call;
    // All ranks end them in the same order: those that are started again wait for their peers.
    while (opened == kAtOnce || (opened > 0 && (number == calls - 1 || mix(seed, (unsigned)number, 77) % 7 == 0))) {
      finish(open[0]);
      free(open[0]);
      memmove(open, open + 1, (size_t)--opened * sizeof open[0]);
    }
  }
  while (opened > 0) {
    finish(open[0]);
    free(open[0]);
    memmove(open, open + 1, (size_t)--opened * sizeof open[0]);
  }
  if (made == 4) MPI_Comm_free(&comms[3].comm);
  MPI_Comm_free(&half);
  MPI_Comm_free(&comms[1].comm);
  MPI_Op_free(&user);
  MPI_Type_free(&types[1].type);
  MPI_Type_free(&types[2].type);
  return suite_end("collectives_random");
}
