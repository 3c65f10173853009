// The parts of a history, for random.c. All ranks draw all of it, and each keeps a reference of every window's memory,
// which the accesses change as they are drawn.
#pragma once

#include "random_layouts.h"

enum { kMembersMax = 8, kSlotsMax = 8, kAccessesMax = 48, kAlign = 48, kGiven = 0xa5, kGot = 0x5a, kUsed = 0x77 };

enum Flavour { kCreated, kOverAllocated, kAllocated, kShared, kDynamic, kFlavours };
static const char* const kFlavourNames[] = {"created", "created over MPI_Alloc_mem", "allocated", "shared", "dynamic"};

enum Epoch { kFence, kPost, kLock, kLockAll, kEpochs };
static const char* const kEpochNames[] = {"fence", "post-start", "lock", "lock_all"};

enum Locks { kSharedLocks, kExclusiveLocks, kMixedLocks };

// The use of a slot of a member's memory in one epoch, such that all results are determined.
enum Role {
  kIdle,
  kRead,      // gets of any rank
  kWrite,     // puts and gets of one origin, flushed in between: in an epoch without flushes one put
  kOrdered,   // accumulates of one origin: any operations
  kCommute,   // accumulates of any rank with one operation that commutes
  kTickets,   // any rank adds 1: the numbers fetched are all different, and increase for each origin
  kElection,  // any rank swaps the first value for one of its own: one wins
  kGuarded,   // any rank gets, and puts one more, under an exclusive lock
  kOwn,       // stores of the owner
  kRoles
};

struct Slot {
  enum Role role;
  const struct Element* element;
  int op, origin, used;
  uint64_t first;  // of tickets and elections
};

struct Member {
  int slots, unit;
  MPI_Aint bytes;
  unsigned char* reference;
  unsigned char* looked_at;  // 0: this byte has no meaning in this epoch
  struct Slot slot[kSlotsMax];
};

enum Kind { kPut, kGet, kAccumulate, kGetAccumulate, kFetchAndOp, kCompareAndSwap, kIncrement, kStore, kLoad };
static const char* const kKindNames[] = {
    "put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap", "increment", "store", "load"};
enum Flush { kNone, kFlush, kFlushLocal, kFlushAll, kFlushLocalAll };

// Memory of an origin: its elements and the bytes around them.
struct Buffer {
  struct Layout layout;
  unsigned char* bytes;
  size_t size;
};

struct Access {
  enum Kind kind;
  int origin, target, slot, elements, op;
  int large, by_request, waits, flush;  // its form; how it ends
  const struct Element *there, *here;
  struct Layout layout;
  MPI_Aint base;  // in the window's memory
  struct Buffer given, got, compare;
  unsigned char* expected;  // of `got`; NULL where only all results together are determined
  MPI_Request request;
  int performed, settled;
};

struct History {
  struct Random random;
  unsigned seed;
  int number, epoch_number;  // of the window, of its epoch
  MPI_Comm comm;
  int rank, size;
  // The window.
  enum Flavour flavour;
  int passive, ordered, one_op, unified;  // 0: no locks; accumulates without order; with one operation
  MPI_Aint slot_bytes;
  struct Member member[kMembersMax];
  MPI_Win win;
  unsigned char* memory;
  MPI_Aint address[kMembersMax];       // of a dynamic window
  unsigned char* mapped[kMembersMax];  // of a shared one
  // The epoch.
  enum Epoch epoch;
  enum Locks locks;
  int nested;                             // all locks at once
  int reaches[kMembersMax][kMembersMax];  // which origins have an access epoch at which targets
  struct Access access[kAccessesMax];
  int accesses;
};

static unsigned char* slot_memory(struct History* h, int member, int slot) {
  return h->member[member].reference + slot * h->slot_bytes;
}

static struct Slot* slot_of(struct History* h, const struct Access* access) {
  return &h->member[access->target].slot[access->slot];
}

static int passes(const struct History* h) {
  return h->epoch == kLock || h->epoch == kLockAll;
}

static unsigned char* at_place(const struct Buffer* buffer, int element) {
  return buffer->bytes + place(&buffer->layout, element) - buffer->layout.low;
}
// The address that is passed to MPI.
static void* buffer_address(const struct Buffer* buffer) {
  return buffer->bytes == NULL ? NULL : buffer->bytes - buffer->layout.low;
}

static struct Buffer draw_buffer(struct Random* random, const struct Element* element, int elements, int plain,
                                 int filling) {
  struct Buffer buffer;
  buffer.layout = draw_layout(random, element, elements, element->extent, plain);
  buffer.size = (size_t)(buffer.layout.high - buffer.layout.low);
  buffer.bytes = memory_of(buffer.size);
  memset(buffer.bytes, filling, buffer.size);
  return buffer;
}

static void free_buffer(struct Buffer* buffer) {
  if (buffer->bytes == NULL) return;
  free_layout(&buffer->layout);
  free(buffer->bytes);
}

static void free_access(struct Access* access) {
  if (access->layout.at != NULL) free_layout(&access->layout);
  free_buffer(&access->given);
  free_buffer(&access->got);
  free_buffer(&access->compare);
  free(access->expected);
}

// Sets the expected results to the current elements of the target.
static void expect(struct History* h, struct Access* access) {
  const unsigned char* const from = slot_memory(h, access->target, access->slot) + access->base;
  access->expected = memory_of(access->got.size);
  memset(access->expected, kGot, access->got.size);
  for (int i = 0; i < access->elements; ++i) {
    unsigned char* const to = access->expected + place(&access->got.layout, i) - access->got.layout.low;
    copy_pieces(access->here, to, access->there, from + place(&access->layout, i));
  }
}

// Applies the access to the elements of the reference.
static void carry_out(struct History* h, const struct Access* access) {
  struct Member* const member = &h->member[access->target];
  const MPI_Aint base = access->slot * h->slot_bytes + access->base;
  for (int i = 0; i < access->elements; ++i) {
    const MPI_Aint at = base + place(&access->layout, i);
    const int hole = access->there->hole;
    memset(member->looked_at + at + hole, 0, (size_t)(access->there->extent - hole));
    if (access->kind == kPut || access->kind == kStore)
      copy_pieces(access->there, member->reference + at, access->here, at_place(&access->given, i));
    else
      update(access->there, access->op, member->reference + at, at_place(&access->given, i));
  }
}
