// The drawn accesses as MPI calls, and the check of their results, for random.c.
#pragma once

#include "random_accesses.h"

enum { kLateUsMost = 300 };

static void complain(struct History* h, const struct Access* access, const char* what, size_t at) {
  const struct Slot* const slot = slot_of(h, access);
  CHECK(0,
        "seed %u, window %d (%s), epoch %d (%s), access %d of %d: %s of %d %s, %s, rank %d to %d, slot %d role %d%s%s, "
        "unit %d: %s %zu",
        h->seed, h->number, kFlavourNames[h->flavour], h->epoch_number, kEpochNames[h->epoch],
        (int)(access - h->access), h->accesses, kKindNames[access->kind], access->elements, access->there->name,
        kOpNames[access->op], access->origin, access->target, access->slot, slot->role,
        access->by_request ? ", by request" : "", access->large ? ", large" : "", h->member[access->target].unit, what,
        at);
}

// The access's buffers may be reused.
static void settle(struct History* h, struct Access* access) {
  if (access->settled) return;
  access->settled = 1;
  if (access->expected != NULL) {
    const struct Element* const element = access->here;
    for (int i = 0; i < access->elements; ++i) {
      const MPI_Aint hole = place(&access->got.layout, i) - access->got.layout.low + element->hole;
      memcpy(access->got.bytes + hole, access->expected + hole, (size_t)(element->extent - element->hole));
    }
    size_t at = 0;
    while (at < access->got.size && access->got.bytes[at] == access->expected[at]) ++at;
    if (at < access->got.size) complain(h, access, "what it got differs at byte", at);
  }
  // MPI must not read these buffers any more.
  if (access->given.bytes != NULL) memset(access->given.bytes, kUsed, access->given.size);
  if (access->compare.bytes != NULL) memset(access->compare.bytes, kUsed, access->compare.size);
}

// The accesses to `target` (-1: to all) are complete here.
static void settle_all(struct History* h, int target) {
  for (int i = 0; i < h->accesses; ++i) {
    struct Access* const access = &h->access[i];
    if (!access->performed || (target >= 0 && access->target != target)) continue;
    if (access->request != MPI_REQUEST_NULL) MPI_Wait(&access->request, MPI_STATUS_IGNORE);
    settle(h, access);
  }
}

static MPI_Aint displacement(const struct History* h, const struct Access* access) {
  const MPI_Aint at = access->slot * h->slot_bytes + access->base;
  return (h->flavour == kDynamic ? h->address[access->target] : 0) + at / h->member[access->target].unit;
}

// The four forms of one access: its arguments up to the window are `...`.
#define FORMS(Name)                                                    \
  do {                                                                 \
    if (!a->by_request && !a->large) MPI_##Name(ARGUMENTS, h->win);    \
    if (!a->by_request && a->large) MPI_##Name##_c(ARGUMENTS, h->win); \
  } while (0)
#define REQUEST_FORMS(RName)                                                        \
  do {                                                                              \
    if (a->by_request && !a->large) MPI_##RName(ARGUMENTS, h->win, &a->request);    \
    if (a->by_request && a->large) MPI_##RName##_c(ARGUMENTS, h->win, &a->request); \
  } while (0)

static void move(struct History* h, struct Access* a) {
  const struct Layout *here = a->kind == kGet ? &a->got.layout : &a->given.layout, *there = &a->layout;
  void* const buffer = buffer_address(a->kind == kGet ? &a->got : &a->given);
#define ARGUMENTS buffer, here->count, here->type, a->target, displacement(h, a), there->count, there->type
  if (a->kind == kGet) {
    FORMS(Get);
    REQUEST_FORMS(Rget);
  } else {
    FORMS(Put);
    REQUEST_FORMS(Rput);
  }
#undef ARGUMENTS
}

static void accumulate(struct History* h, struct Access* a) {
  const struct Layout *here = &a->given.layout, *got = &a->got.layout, *there = &a->layout;
  void* const buffer = buffer_address(&a->given);
  const MPI_Op op = mpi_op(a->op);
#define ARGUMENTS buffer, here->count, here->type, a->target, displacement(h, a), there->count, there->type, op
  if (a->kind == kAccumulate) {
    FORMS(Accumulate);
    REQUEST_FORMS(Raccumulate);
    return;
  }
#undef ARGUMENTS
#define ARGUMENTS                                                                                                 \
  buffer, here->count, here->type, buffer_address(&a->got), got->count, got->type, a->target, displacement(h, a), \
      there->count, there->type, op
  FORMS(Get_accumulate);
  REQUEST_FORMS(Rget_accumulate);
#undef ARGUMENTS
}

// A load or store of the program itself, in a window of shared memory.
static void move_directly(struct History* h, struct Access* a) {
  unsigned char* const there = h->mapped[a->target] + a->slot * h->slot_bytes + a->base;
  MPI_Win_sync(h->win);
  for (int i = 0; i < a->elements; ++i) {
    if (a->kind == kLoad)
      copy_pieces(a->here, at_place(&a->got, i), a->there, there + place(&a->layout, i));
    else
      copy_pieces(a->there, there + place(&a->layout, i), a->here, at_place(&a->given, i));
  }
  MPI_Win_sync(h->win);
}

static void increment(struct History* h, struct Access* a) {
  const MPI_Datatype type = a->here->type;
  MPI_Get(a->got.bytes, 1, type, a->target, displacement(h, a), 1, type, h->win);
  MPI_Win_flush(a->target, h->win);
  store_integer(a->here, a->given.bytes, load_integer(a->here, a->got.bytes) + 1);
  MPI_Put(a->given.bytes, 1, type, a->target, displacement(h, a), 1, type, h->win);
}

static void flush(struct History* h, struct Access* access) {
  switch (access->flush) {
    case kFlush:
      MPI_Win_flush(access->target, h->win);
      break;
    case kFlushLocal:
      MPI_Win_flush_local(access->target, h->win);
      break;
    case kFlushAll:
      MPI_Win_flush_all(h->win);
      break;
    case kFlushLocalAll:
      MPI_Win_flush_local_all(h->win);
      break;
    default:
      return;
  }
  settle_all(h, access->flush == kFlush || access->flush == kFlushLocal ? access->target : -1);
}

// Drawn for each rank, independently of the common history, so the overlap of accesses depends on the seed.
static void be_late(const struct History* h, unsigned step) {
  struct Random mine = {h->seed * 977u + (unsigned)h->number * 131u + (unsigned)h->epoch_number * 17u + step};
  mine.state = mine.state * 64 + (unsigned)h->rank;
  if (one_in(&mine, 16)) usleep((useconds_t)below(&mine, kLateUsMost));
}

static void perform(struct History* h, struct Access* access) {
  be_late(h, (unsigned)(access - h->access));
  switch (access->kind) {
    case kPut:
    case kGet:
      move(h, access);
      break;
    case kAccumulate:
    case kGetAccumulate:
      accumulate(h, access);
      break;
    case kFetchAndOp:
      MPI_Fetch_and_op(access->given.bytes, access->got.bytes, access->here->type, access->target,
                       displacement(h, access), mpi_op(access->op), h->win);
      break;
    case kCompareAndSwap:
      MPI_Compare_and_swap(access->given.bytes, access->compare.bytes, access->got.bytes, access->here->type,
                           access->target, displacement(h, access), h->win);
      break;
    case kIncrement:
      increment(h, access);
      break;
    default:
      move_directly(h, access);
  }
  access->performed = 1;
  // MPICH 4.0.2 completes requests of gets before the data has arrived.
  if (access->by_request && access->waits && on_margay()) {
    int done = 0;
    while (!done) MPI_Test(&access->request, &done, MPI_STATUS_IGNORE);
    settle(h, access);
  }
  flush(h, access);
}

// Performs this rank's accesses to `target`, or to all (-1).
static void perform_all(struct History* h, int target) {
  for (int i = 0; i < h->accesses; ++i) {
    struct Access* const access = &h->access[i];
    if (access->origin == h->rank && (target < 0 || access->target == target)) perform(h, access);
  }
}
