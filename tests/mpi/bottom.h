// Memory at addresses that are part of datatypes, for programs whose buffers are MPI_BOTTOM: slots of four ints each.
#pragma once

#include "check.h"

enum { kSlots = 16, kInts = 4 };
// The layout of a slot's datatype. In the first two layouts slots are consecutive elements; in the others a slot's
// first int is separate from its last three.
enum layout { kRun, kResized, kHindexed, kStruct, kIndexedBlock, kLayouts };

struct slots {
  enum layout layout;
  int* heads;
  int (*rows)[kInts];
  MPI_Datatype types[kSlots];
};

static int in_a_row(enum layout layout) {
  return layout == kRun || layout == kResized;
}

static int* slot_int(const struct slots* slots, int slot, int i) {
  return in_a_row(slots->layout) || i > 0 ? &slots->rows[slot][i] : &slots->heads[slot];
}

static MPI_Datatype slot_type(const struct slots* slots, int slot) {
  const int one_and_rest[2] = {1, kInts - 1};
  MPI_Aint at[kInts];
  MPI_Datatype run, type;
  for (int i = 0; i < kInts; ++i) MPI_Get_address(slot_int(slots, slot, i), &at[i]);
  switch (slots->layout) {
    case kRun:
      MPI_Type_create_hindexed(1, (int[]){kInts}, at, MPI_INT, &type);
      break;
    case kResized:
      MPI_Type_create_hindexed_block(1, kInts, at, MPI_INT, &run);
      MPI_Type_create_resized(run, at[0], sizeof(int[kInts]), &type);
      MPI_Type_free(&run);
      break;
    case kHindexed:
      MPI_Type_create_hindexed(2, one_and_rest, at, MPI_INT, &type);
      break;
    case kStruct:
      MPI_Type_contiguous(kInts - 1, MPI_INT, &run);
      MPI_Type_create_struct(2, (int[]){1, 1}, at, (MPI_Datatype[]){MPI_INT, run}, &type);
      MPI_Type_free(&run);
      break;
    default:
      MPI_Type_create_hindexed_block(kInts, 1, at, MPI_INT, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

__attribute__((unused)) static struct slots open_slots(enum layout layout) {
  struct slots made = {.layout = layout};
  made.heads = memory_of(sizeof(int[kSlots]));
  made.rows = memory_of(sizeof(int[kSlots][kInts]));
  for (int slot = 0; slot < kSlots; ++slot) made.types[slot] = slot_type(&made, slot);
  return made;
}

__attribute__((unused)) static void close_slots(struct slots* slots) {
  for (int slot = 0; slot < kSlots; ++slot) MPI_Type_free(&slots->types[slot]);
  free(slots->heads);
  free(slots->rows);
}

// The contents of a slot that a rank sends.
__attribute__((unused)) static int sent_int(int rank, int slot, int i) {
  return rank * 1000 + slot * 10 + i;
}

__attribute__((unused)) static void fill_slots(const struct slots* slots, int rank) {
  for (int slot = 0; slot < kSlots; ++slot)
    for (int i = 0; i < kInts; ++i) *slot_int(slots, slot, i) = sent_int(rank, slot, i);
}

__attribute__((unused)) static void clear_slots(const struct slots* slots) {
  for (int slot = 0; slot < kSlots; ++slot)
    for (int i = 0; i < kInts; ++i) *slot_int(slots, slot, i) = -1;
}

// Checks that `slot` holds the contents of `from`'s slot `sent`.
#define CHECK_SLOT(slots, slot, from, sent, what)                                                                 \
  for (int i_ = 0; i_ < kInts; ++i_)                                                                              \
  CHECK(*slot_int(slots, slot, i_) == sent_int(from, sent, i_), "%s, layout %d: int %d of slot %d is %d, not %d", \
        what, (slots)->layout, i_, slot, *slot_int(slots, slot, i_), sent_int(from, sent, i_))
