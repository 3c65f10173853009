// The draw of windows, of epochs, and of the roles of slots in them, for random.c.
#pragma once

#include "random_history.h"

static void draw_window(struct History* h) {
  static const int units[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 48};
  struct Random* const random = &h->random;
  h->flavour = (enum Flavour)below(random, kFlavours);
  h->passive = !one_in(random, 5);
  h->ordered = !one_in(random, 5);
  h->one_op = one_in(random, 5);
  h->slot_bytes = kAlign * (MPI_Aint)(1 + below(random, one_in(random, 3) ? 40 : 8));
  if (one_in(random, 16)) h->slot_bytes = kAlign * (MPI_Aint)(500 + below(random, 1500));
  const int alike = one_in(random, 3), unit = units[below(random, 10)];
  for (int i = 0; i < h->size; ++i) {
    struct Member* const member = &h->member[i];
    member->slots = alike ? 4 : one_in(random, 8) ? 0 : 1 + below(random, kSlotsMax);
    member->unit = h->flavour == kDynamic ? 1 : alike ? unit : units[below(random, 10)];
    member->bytes = member->slots * h->slot_bytes;
    member->reference = memory_of((size_t)member->bytes);
    member->looked_at = memory_of((size_t)member->bytes);
    memset(member->looked_at, 1, (size_t)member->bytes);
    for (MPI_Aint at = 0; at < member->bytes; ++at) member->reference[at] = (unsigned char)next(random);
  }
}

static int draw_origin(struct History* h, int target) {
  for (int tries = 0; tries < 20; ++tries) {
    const int origin = below(&h->random, h->size);
    if (h->reaches[origin][target]) return origin;
  }
  return -1;
}

// Draws one of the types used for counters.
static const struct Element* draw_integer(struct Random* random) {
  return &elements()[2 + below(random, kIntegers - 2)];
}

// The slot's contents before the epoch: numbers on which the operation is exact.
static void fill_slot(struct History* h, int target, int number) {
  struct Slot* const slot = &h->member[target].slot[number];
  unsigned char* const memory = slot_memory(h, target, number);
  const int extent = slot->element->extent;
  if (slot->role == kOrdered || slot->role == kCommute) {
    const int op = slot->role == kCommute ? slot->op : kSum;
    for (MPI_Aint at = 0; at + extent <= h->slot_bytes; at += extent)
      draw_number(&h->random, slot->element, op, memory + at);
  } else {
    slot->first = 100 + (uint64_t)below(&h->random, 900);
    store_integer(slot->element, memory, slot->first);
  }
}

static void draw_slot(struct History* h, int target, int number) {
  struct Random* const random = &h->random;
  struct Slot* const slot = &h->member[target].slot[number];
  *slot =
      (struct Slot){.role = (enum Role)below(random, kRoles), .element = &elements()[below(random, kPlainElements)]};
  slot->origin = draw_origin(h, target);
  if (slot->role == kGuarded && !(h->epoch == kLock && h->locks == kExclusiveLocks)) slot->role = kTickets;
  if (slot->role == kOwn && !h->unified) slot->role = kIdle;
  // "The same operation on an element at a time" may mean one in the epoch, if nothing is flushed.
  if (slot->role == kOrdered && (h->one_op || !h->ordered)) slot->role = kCommute;
  if (slot->role != kOwn && slot->origin < 0) slot->role = kIdle;
  slot->op = draw_op(random, slot->element);
  if (slot->role >= kTickets && slot->role <= kGuarded) slot->element = draw_integer(random);
  if (slot->role >= kOrdered && slot->role <= kGuarded) fill_slot(h, target, number);
}

static void draw_epoch(struct History* h) {
  struct Random* const random = &h->random;
  h->epoch = (enum Epoch)below(random, h->passive ? kEpochs : kLock);
  h->locks = (enum Locks)below(random, 3);
  h->nested = one_in(random, 2);
  h->accesses = 0;
  for (int i = 0; i < h->size; ++i) {
    for (int k = 0; k < h->size; ++k) h->reaches[i][k] = h->epoch != kPost || !one_in(random, 3);
  }
  for (int i = 0; i < h->size; ++i) {
    memset(h->member[i].looked_at, 1, (size_t)h->member[i].bytes);
    for (int k = 0; k < h->member[i].slots; ++k) draw_slot(h, i, k);
  }
}
