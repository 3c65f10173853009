// Blocks of bytes, one for each peer of a collective call: their layout in memory, the arguments that describe them,
// and the expected value of every byte of that memory afterwards.
#pragma once

#include "check.h"

// A datatype of `data` bytes, each `step` bytes after the previous one. Plain: MPI_BYTE. Contiguous: kUnit bytes.
// Vector: the same with a gap between any two bytes.
enum { kUnit = 7 };
typedef struct {
  MPI_Datatype type;
  size_t data, extent, step;
} Layout;

enum { kPlain, kContiguous, kVector, kLayouts };

__attribute__((unused)) static void make_layouts(Layout layouts[kLayouts]) {
  layouts[kPlain] = (Layout){MPI_BYTE, 1, 1, 1};
  layouts[kContiguous] = (Layout){MPI_DATATYPE_NULL, kUnit, kUnit, 1};
  layouts[kVector] = (Layout){MPI_DATATYPE_NULL, kUnit, 2 * kUnit - 1, 2};
  MPI_Type_contiguous(kUnit, MPI_BYTE, &layouts[kContiguous].type);
  MPI_Type_vector(kUnit, 1, 2, MPI_BYTE, &layouts[kVector].type);
  MPI_Type_commit(&layouts[kContiguous].type);
  MPI_Type_commit(&layouts[kVector].type);
}
__attribute__((unused)) static void free_layouts(Layout layouts[kLayouts]) {
  MPI_Type_free(&layouts[kContiguous].type);
  MPI_Type_free(&layouts[kVector].type);
}

// Writes `bytes` bytes of the pattern `seed` in the positions of `layout`.
static void lay_down(unsigned char* at, const Layout* layout, size_t bytes, unsigned seed) {
  if (layout->step == 1) {
    pattern_fill(at, bytes, seed);
    return;
  }
  for (size_t i = 0; i < bytes; at += layout->extent)
    for (size_t in_unit = 0; in_unit < layout->data; ++in_unit, ++i) at[in_unit * layout->step] = pattern_byte(seed, i);
}

// One side of a call: blocks of all peers, in the order of their ranks, with gaps, or in reverse order.
enum { kInARow, kGaps, kReversed, kPlacings };
enum { kAround = 32, kUntouched = 0xa5 };

typedef struct {
  int peers;
  const Layout** layouts;  // of each block
  size_t* bytes;           // of data
  size_t* at;              // the block's offset, in bytes from `now`
  // The arguments of the calls; displacements in extents, and in bytes for the calls with byte displacements.
  int *counts, *displs, *byte_displs;
  MPI_Count* large_counts;
  MPI_Aint *large_displs, *large_byte_displs;
  MPI_Datatype* types;
  unsigned char *now, *expected;
  size_t room;
} Side;

static void place(Side* side, int placing) {
  size_t at = 0;
  for (int i = 0; i < side->peers; ++i) {
    const int peer = placing == kReversed ? side->peers - 1 - i : i;
    const size_t extent = side->layouts[peer]->extent;
    if (placing != kInARow) at += 3 * extent;
    side->at[peer] = at;
    at += side->bytes[peer] / side->layouts[peer]->data * extent;
  }
  side->room = at + kAround;
}

// `layouts` and `bytes` have an element for each peer; `bytes` are multiples of the layout's data.
__attribute__((unused)) static Side side_of(int peers, const Layout* const* layouts, const int* bytes, int placing) {
  const size_t n = (size_t)peers;
  Side side = {.peers = peers,
               .layouts = memory_of(n * sizeof(Layout*)),
               .bytes = memory_of(n * sizeof(size_t)),
               .at = memory_of(n * sizeof(size_t)),
               .counts = memory_of(n * sizeof(int)),
               .displs = memory_of(n * sizeof(int)),
               .byte_displs = memory_of(n * sizeof(int)),
               .large_counts = memory_of(n * sizeof(MPI_Count)),
               .large_displs = memory_of(n * sizeof(MPI_Aint)),
               .large_byte_displs = memory_of(n * sizeof(MPI_Aint)),
               .types = memory_of(n * sizeof(MPI_Datatype))};
  for (int p = 0; p < peers; ++p) {
    side.layouts[p] = layouts[p];
    side.bytes[p] = (size_t)bytes[p];
    side.types[p] = layouts[p]->type;
  }
  place(&side, placing);
  for (int p = 0; p < peers; ++p) {
    side.counts[p] = (int)(side.bytes[p] / layouts[p]->data);
    side.large_counts[p] = side.counts[p];
    side.byte_displs[p] = (int)side.at[p];
    side.large_byte_displs[p] = (MPI_Aint)side.at[p];
    side.displs[p] = (int)(side.at[p] / layouts[p]->extent);
    side.large_displs[p] = side.displs[p];
  }
  side.now = memory_of(side.room);
  side.expected = memory_of(side.room);
  return side;
}

// All blocks have one layout.
__attribute__((unused)) static Side even_side(int peers, const Layout* layout, const int* bytes, int placing) {
  const Layout** layouts = memory_of((size_t)peers * sizeof(Layout*));
  for (int p = 0; p < peers; ++p) layouts[p] = layout;
  const Side side = side_of(peers, layouts, bytes, placing);
  free(layouts);
  return side;
}

// One block.
__attribute__((unused)) static Side single_side(const Layout* layout, int bytes) {
  return side_of(1, &layout, &bytes, kInARow);
}

__attribute__((unused)) static void side_free(Side* side) {
  free(side->layouts);
  free(side->bytes);
  free(side->at);
  free(side->counts);
  free(side->displs);
  free(side->byte_displs);
  free(side->large_counts);
  free(side->large_displs);
  free(side->large_byte_displs);
  free(side->types);
  free(side->now);
  free(side->expected);
}

__attribute__((unused)) static void side_clear(Side* side) {
  memset(side->now, kUntouched, side->room);
  memset(side->expected, kUntouched, side->room);
}

// Sets the contents of `peer`'s block before the call.
__attribute__((unused)) static void side_has(Side* side, int peer, unsigned seed) {
  lay_down(side->now + side->at[peer], side->layouts[peer], side->bytes[peer], seed);
}
// Sets the expected contents of `peer`'s block after the call.
__attribute__((unused)) static void side_gets(Side* side, int peer, unsigned seed) {
  lay_down(side->expected + side->at[peer], side->layouts[peer], side->bytes[peer], seed);
}
// Sets both: the call must not change the block.
__attribute__((unused)) static void side_keeps(Side* side, int peer, unsigned seed) {
  side_has(side, peer, seed);
  side_gets(side, peer, seed);
}

// Checks every byte, including those between the blocks.
__attribute__((unused)) static void side_check(const Side* side, const char* what, int form) {
  if (memcmp(side->now, side->expected, side->room) == 0) return;
  size_t i = 0;
  while (side->now[i] == side->expected[i]) ++i;
  int peer = 0;
  for (int p = 0; p < side->peers; ++p)
    if (side->at[p] <= i && side->at[p] >= side->at[peer]) peer = p;
  CHECK(0, "%s, form %d: byte %zu of %zu is %d, not %d, by the block of %d", what, form, i, side->room, side->now[i],
        side->expected[i], peer);
}
