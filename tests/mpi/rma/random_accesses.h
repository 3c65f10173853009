// The draw of an epoch's accesses, for random.c, and their effect on the reference.
#pragma once

#include "random_draw.h"

// The offset in the slot, and the datatype. Elements of accumulates must be aligned.
static void draw_place(struct History* h, struct Access* access, int aligned, int plain) {
  struct Random* const random = &h->random;
  const int extent = access->there->extent, unit = h->member[access->target].unit;
  for (int tries = 0;; ++tries) {
    access->layout = draw_layout(random, access->there, access->elements, aligned || one_in(random, 2) ? extent : 1,
                                 plain || tries >= 3);
    const MPI_Aint low = access->layout.low, step = aligned ? kAlign : unit;
    access->base = low < 0 ? (-low + kAlign - 1) / kAlign * kAlign : 0;
    const MPI_Aint room = h->slot_bytes - access->base - access->layout.high;
    if (room >= 0) {
      access->base += below(random, (int)(room / step) + 1) * step;
      return;
    }
    free_layout(&access->layout);
  }
}

static int draw_elements(struct History* h, const struct Element* element) {
  const int fit = (int)(h->slot_bytes / element->extent);
  if (one_in(&h->random, 20)) return 0;
  return one_in(&h->random, 6) ? fit : 1 + below(&h->random, 1 + fit / 2);
}

static void draw_bytes(struct Random* random, const struct Element* element, unsigned char* at) {
  for (int k = 0; k < 2; ++k) {
    for (int byte = 0; byte < element->pieces[k][1]; ++byte)
      at[element->pieces[k][0] + byte] = (unsigned char)next(random);
  }
}

static void draw_given(struct History* h, struct Access* access, int plain) {
  const int writes = access->kind == kPut || access->kind == kStore;
  access->given = draw_buffer(&h->random, access->here, access->elements, plain, kGiven);
  for (int i = 0; i < access->elements; ++i) {
    unsigned char* const at = at_place(&access->given, i);
    if (writes)
      draw_bytes(&h->random, access->here, at);
    else
      draw_number(&h->random, access->here, access->op, at);
  }
}

static void draw_move(struct History* h, struct Access* access, int write) {
  struct Random* const random = &h->random;
  const int direct = h->flavour == kShared && passes(h) && one_in(random, 3);
  access->kind = write ? (direct ? kStore : kPut) : (direct ? kLoad : kGet);
  do {
    access->there = access->here = &elements()[below(random, kElements)];
    // The same origin reads here again, perhaps with a type that gives a meaning to bytes without one in this type.
  } while (slot_of(h, access)->role == kWrite && access->there->hole < access->there->extent);
  if (access->there->family == kMixed) access->here = &elements()[kPlainElements + below(random, 2)];
  access->elements = draw_elements(h, access->there);
  draw_place(h, access, 0, one_in(random, 3));
  if (write) {
    draw_given(h, access, one_in(random, 3));
    carry_out(h, access);
  } else {
    access->got = draw_buffer(random, access->here, access->elements, one_in(random, 3), kGot);
    expect(h, access);
  }
}

static int is_integer(const struct Element* element) {
  return element->family == kSigned || element->family == kUnsigned || element->family == kLogical ||
         element->family == kBits;
}

// The current value, so that the swap takes place, or another number.
static void draw_compare(struct History* h, struct Access* access) {
  const unsigned char* const now = slot_memory(h, access->target, access->slot) + access->base;
  access->compare = draw_buffer(&h->random, access->here, 1, 1, kGiven);
  unsigned char* const at = at_place(&access->compare, 0);
  draw_number(&h->random, access->here, kReplace, at);
  if (one_in(&h->random, 2)) memcpy(at, now, (size_t)access->here->extent);
  access->op = memcmp(at, now, (size_t)access->here->extent) == 0 ? kReplace : kNoOp;
}

static void draw_accumulate(struct History* h, struct Access* access, const struct Slot* slot) {
  struct Random* const random = &h->random;
  const int one_origin = slot->role == kOrdered;
  access->there = access->here = slot->element;
  access->op = one_origin ? (one_in(random, 4) ? kReplace : draw_op(random, slot->element)) : slot->op;
  const int kinds = one_origin && is_integer(slot->element) ? 4 : 3;
  access->kind = (enum Kind)(kAccumulate + below(random, kinds));
  if (access->kind == kGetAccumulate && !h->one_op && one_in(random, 4)) access->op = kNoOp;
  const int one = access->kind >= kFetchAndOp;
  // Pairs in a derived datatype: not every MPI accumulates them.
  const int plain = one || slot->element->family == kPair;
  access->elements = one ? 1 : draw_elements(h, slot->element);
  draw_place(h, access, 1, plain || one_in(random, 3));
  if (access->kind == kCompareAndSwap) draw_compare(h, access);
  draw_given(h, access, plain || one_in(random, 3));
  if (access->kind != kAccumulate) {
    access->got = draw_buffer(random, slot->element, access->elements, plain || one_in(random, 3), kGot);
    if (one_origin) expect(h, access);
  }
  carry_out(h, access);
}

// An access to the slot's first number. Its fetched value is checked when the epoch is over and all values are known.
static void draw_number_access(struct History* h, struct Access* access, const struct Slot* slot) {
  struct Random* const random = &h->random;
  access->there = access->here = slot->element;
  access->op = kSum;
  access->elements = 1;
  access->layout = draw_layout(random, slot->element, 1, slot->element->extent, 1);
  access->given = draw_buffer(random, slot->element, 1, 1, kGiven);
  access->got = draw_buffer(random, slot->element, 1, 1, kGot);
  store_integer(slot->element, access->given.bytes, 1);
  if (slot->role == kElection) {
    access->kind = kCompareAndSwap;
    access->compare = draw_buffer(random, slot->element, 1, 1, kGiven);
    store_integer(slot->element, access->compare.bytes, slot->first);
    store_integer(slot->element, access->given.bytes, 2000 + (uint64_t)h->accesses);
    return;
  }
  access->kind = slot->role == kGuarded ? kIncrement : one_in(random, 2) ? kFetchAndOp : kGetAccumulate;
  carry_out(h, access);
}

// The form of the call, and its completion.
static void draw_form(struct History* h, struct Access* access) {
  struct Random* const random = &h->random;
  const struct Slot* const slot = slot_of(h, access);
  access->request = MPI_REQUEST_NULL;
  access->large = one_in(random, 3);
  if (!passes(h)) return;
  access->by_request = access->kind <= kGetAccumulate && one_in(random, 3);
  access->waits = one_in(random, 2);
  access->flush = one_in(random, 2) ? kNone : kFlush + below(random, 4);
  // A later access may overlap it.
  if (slot->role == kWrite) access->flush = one_in(random, 3) ? kFlushAll : kFlush;
  if (access->kind == kIncrement) access->flush = kFlush;
}

static void draw_access(struct History* h, int target, int number) {
  struct Slot* const slot = &h->member[target].slot[number];
  struct Access* const access = &h->access[h->accesses];
  const int any_origin = slot->role != kWrite && slot->role != kOrdered;
  const int origin = any_origin ? draw_origin(h, target) : slot->origin;
  if (slot->role == kIdle || slot->role == kOwn || origin < 0) return;
  if (slot->role == kWrite && !passes(h) && slot->used) return;
  slot->used = 1;
  *access = (struct Access){.origin = origin, .target = target, .slot = number};
  if (slot->role == kRead || slot->role == kWrite) {
    draw_move(h, access, slot->role == kWrite && (!passes(h) || one_in(&h->random, 2)));
  } else if (slot->role == kOrdered || slot->role == kCommute) {
    draw_accumulate(h, access, slot);
  } else {
    draw_number_access(h, access, slot);
  }
  draw_form(h, access);
  ++h->accesses;
}

// The owner's stores during the epoch: it copies its slots from the reference.
static void draw_own_stores(struct History* h) {
  for (int target = 0; target < h->size; ++target) {
    for (int number = 0; number < h->member[target].slots; ++number) {
      if (h->member[target].slot[number].role != kOwn) continue;
      unsigned char* const memory = slot_memory(h, target, number);
      for (MPI_Aint i = 0; i < h->slot_bytes; i += 1 + below(&h->random, 9))
        memory[i] = (unsigned char)next(&h->random);
    }
  }
}

static void draw_accesses(struct History* h) {
  const int accesses = below(&h->random, kAccessesMax);
  for (int tries = 0; tries < 3 * accesses && h->accesses < accesses; ++tries) {
    const int target = below(&h->random, h->size);
    if (h->member[target].slots > 0) draw_access(h, target, below(&h->random, h->member[target].slots));
  }
  draw_own_stores(h);
}
