// The draw of random collective calls: their communicators and types, the draw itself, and the start and completion of
// a call. All ranks draw the same calls from the seed.
#pragma once

#include "random_calls_data.h"

// The communicators, types and limits of a draw.
struct Deck {
  unsigned seed;
  int longest;  // elements of the longest rows and blocks; 0: all are of 5,000 at most
  int comms_made;
  struct Comm comms[kComms];
  struct Type types[3];
  MPI_Op user;
};

static void draw_root(struct Call* call, unsigned drawn) {
  if (!call->comm->inter) {
    call->root = (int)(drawn % (unsigned)call->comm->size);
    // Its own block is in place at the root only; with MPICH 4.0.2 not in a reduction to a root other than 0.
    if (call->root != call->comm->rank) call->in_place = 0;
    if (call->operation == kReduce && call->root != 0 && !on_margay()) call->in_place = 0;
    return;
  }
  // A rank of either group.
  const int all = call->comm->size + call->comm->peers;
  int chosen = (int)(drawn % (unsigned)all);
  const int mine_first = call->comm->mine[0] < call->comm->theirs[0];
  const int first = mine_first ? call->comm->size : call->comm->peers;
  const int in_mine = (chosen < first) == mine_first;
  if (chosen >= first) chosen -= first;
  call->root = !in_mine ? chosen : chosen == call->comm->rank ? MPI_ROOT : MPI_PROC_NULL;
}

static void draw(struct Call* call, int number, const struct Deck* deck) {
  unsigned drawn[10];
  for (unsigned i = 0; i < 10; ++i) drawn[i] = mix(deck->seed, (unsigned)number, i) >> 3;
  memset(call, 0, sizeof *call);
  call->number = number;
  call->request = MPI_REQUEST_NULL;
  call->comm = &deck->comms[drawn[0] % (unsigned)deck->comms_made];
  do {
    call->operation = (int)(drawn[1]++ % kOperations);
  } while (call->comm->inter && (call->operation == kScan || call->operation == kExscan));
  // MPICH 4.0.2's persistent collectives send the contents that the buffers had before MPI_Start, or end with an
  // internal error; some nonblocking ones on intercommunicators deliver nothing.
  call->form = (int)(drawn[2] % (on_margay() ? 3 : call->comm->inter ? 1 : 2));
  static const int counts[] = {0, 1, 2, 5, 17, 100, 700, 5000};
  call->count = counts[drawn[3] % 8];
  if (deck->longest > 0 && drawn[9] % 32 == 0) call->count = deck->longest;
  const int reduces = call->operation >= kReduce;
  call->type = &deck->types[drawn[4] % 2];
  const MPI_Op ops[] = {MPI_SUM, MPI_MAX, MPI_MIN, MPI_BXOR};
  call->op = ops[drawn[5] / 3 % 4];
  if (reduces) {
    call->user = drawn[5] % 3 == 0;
    call->type = call->user ? &deck->types[2] : &deck->types[0];
    if (call->user) call->op = deck->user;
  }
  call->reversed = (int)(drawn[6] % 2);
  call->in_place = !call->comm->inter && call->operation != kBarrier && call->operation != kBcast && drawn[7] % 4 == 0;
  call->alike = call->in_place;
  if (call->operation == kReduceScatter && call->comm->inter) call->operation = kReduceScatterBlock;
  // The rows of both groups are equally long.
  if (call->operation == kReduceScatterBlock && call->comm->inter)
    call->count = call->comm->peers * (call->count % 100);
  if (is_rooted(call->operation)) draw_root(call, drawn[8]);
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

// All members of `base`, in order and reversed; a third of them and the others; the intercommunicator of these two.
static void deal(struct Deck* deck, MPI_Comm base, unsigned seed) {
  int rank = 0, size = 0;
  *deck = (struct Deck){.seed = seed, .comms_made = 3};
  MPI_Comm_rank(base, &rank);
  MPI_Comm_size(base, &size);
  deck->types[0] = (struct Type){MPI_INT, 1, 1, {0, 0}};
  deck->types[1] = (struct Type){MPI_DATATYPE_NULL, 2, 3, {0, 2}};
  deck->types[2] = (struct Type){MPI_DATATYPE_NULL, 2, 2, {0, 1}};
  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 3 * (MPI_Aint)sizeof(int), &deck->types[1].type);
  MPI_Type_contiguous(2, MPI_INT, &deck->types[2].type);
  MPI_Type_commit(&deck->types[1].type);
  MPI_Type_commit(&deck->types[2].type);
  MPI_Type_free(&vector);
  MPI_Op_create(compose, 0, &deck->user);
  const int third = (size + 2) / 3, low = rank < third;
  MPI_Comm_dup(base, &deck->comms[0].comm);
  MPI_Comm_split(base, 0, -rank, &deck->comms[1].comm);
  MPI_Comm_split(base, low, rank, &deck->comms[2].comm);
  if (size > 1) {
    MPI_Intercomm_create(deck->comms[2].comm, 0, base, low ? third : 0, 7, &deck->comms[3].comm);
    deck->comms_made = 4;
  }
  for (int i = 0; i < deck->comms_made; ++i) know(&deck->comms[i]);
}

// Calls may be in progress: they keep the objects that they need.
__attribute__((unused)) static void put_away(struct Deck* deck) {
  for (int i = deck->comms_made - 1; i >= 0; --i) MPI_Comm_free(&deck->comms[i].comm);
  MPI_Op_free(&deck->user);
  MPI_Type_free(&deck->types[1].type);
  MPI_Type_free(&deck->types[2].type);
}

static void begin(struct Call* call) {
  prepare_buffers(call);
  put_data(call);
  if (call->form == kBlocking && call->operation != kBarrier && mix((unsigned)call->number, 55, 1) % 3 == 0) {
    make_large(call);
  } else {
    make(call);
  }
  if (call->form == kPersistent && call->code == MPI_SUCCESS) call->code = MPI_Start(&call->request);
}

// A call that returned success must have the right result, even if one of its members is dead.
static void judge(struct Call* call) {
  if (call->code == MPI_SUCCESS) {
    check_result(call);
  } else {
    CHECK(call->comm->may_fail && class_of(call->code) == MPIX_ERR_PROC_FAILED,
          "call %d, %s, form %d, comm of %d%s: error class %d", call->number, kNames[call->operation], call->form,
          call->comm->size, call->comm->may_fail ? " with the dead" : "", class_of(call->code));
  }
}

static void finish(struct Call* call) {
  if (call->form != kBlocking && call->code == MPI_SUCCESS) call->code = MPI_Wait(&call->request, MPI_STATUS_IGNORE);
  judge(call);
  // Again, with different data in the same buffers.
  for (int again = 0; call->form == kPersistent && again < 2; ++again) {
    call->number += 1000000;
    put_data(call);
    call->code = MPI_Start(&call->request);
    if (call->code == MPI_SUCCESS) call->code = MPI_Wait(&call->request, MPI_STATUS_IGNORE);
    judge(call);
  }
  if (call->form == kPersistent) MPI_Request_free(&call->request);
  free(call->send);
  free(call->receive);
}
