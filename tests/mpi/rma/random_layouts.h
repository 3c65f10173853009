// Random datatypes, together with the offsets of their elements, for random.c.
#pragma once

#include "random_elements.h"

enum { kBlocksMax = 600 };

// `count` of a datatype with `per` elements each.
struct Layout {
  MPI_Datatype type;
  int count, per;
  MPI_Aint* at;  // in bytes, of the `per` elements
  MPI_Aint extent;
  MPI_Aint low, high;  // of all elements
  int is_derived;
};

static MPI_Aint place(const struct Layout* layout, int element) {
  return layout->at[element % layout->per] + element / layout->per * layout->extent;
}

static void free_layout(struct Layout* layout) {
  if (layout->is_derived) MPI_Type_free(&layout->type);
  free(layout->at);
  *layout = (struct Layout){.type = MPI_DATATYPE_NULL};
}

// Blocks of elements that do not overlap, in bytes.
struct Blocks {
  int number;
  int lengths[kBlocksMax];
  MPI_Aint at[kBlocksMax];
};

static int draw_divisor(struct Random* random, int of) {
  int divisor = 1 + below(random, of < 24 ? of : 24);
  while (of % divisor != 0) --divisor;
  return one_in(random, 2) ? divisor : of / divisor;
}

// Blocks one after the other in memory, with gaps of `unit`s; then shuffled, so the type map has another order.
static void draw_blocks(struct Random* random, int elements, int alike, int extent, int unit, struct Blocks* blocks) {
  int length = draw_divisor(random, elements), left = elements;
  if (elements / length > kBlocksMax) length = elements;
  MPI_Aint at = unit * (MPI_Aint)below(random, 3);
  blocks->number = 0;
  while (left > 0) {
    int mine = alike ? length : 1 + below(random, left < 2 * length ? left : 2 * length);
    if (!alike && blocks->number == kBlocksMax - 1) mine = left;
    blocks->lengths[blocks->number] = mine;
    blocks->at[blocks->number++] = at;
    at += mine * (MPI_Aint)extent + unit * (MPI_Aint)below(random, 4);
    left -= mine;
  }
  for (int i = blocks->number - 1; i > 0 && !alike && one_in(random, 2); --i) {
    const int other = below(random, i + 1), length_i = blocks->lengths[i];
    const MPI_Aint at_i = blocks->at[i];
    blocks->lengths[i] = blocks->lengths[other];
    blocks->at[i] = blocks->at[other];
    blocks->lengths[other] = length_i;
    blocks->at[other] = at_i;
  }
  for (int i = 0; i + 1 < blocks->number && alike && one_in(random, 2); i += 2) {
    const MPI_Aint at_i = blocks->at[i];
    blocks->at[i] = blocks->at[i + 1];
    blocks->at[i + 1] = at_i;
  }
}

static void lay_blocks(struct Layout* layout, const struct Blocks* blocks, int extent) {
  int element = 0;
  for (int i = 0; i < blocks->number; ++i) {
    for (int k = 0; k < blocks->lengths[i]; ++k) layout->at[element++] = blocks->at[i] + k * (MPI_Aint)extent;
  }
}

// A vector with a stride in elements or in bytes, positive or negative.
static void make_vector(struct Random* random, struct Layout* layout, const struct Element* element, int unit) {
  const int length = draw_divisor(random, layout->per), blocks = layout->per / length;
  const int backwards = one_in(random, 3) ? -1 : 1;
  MPI_Aint stride = length + below(random, 4);
  if (unit == element->extent || one_in(random, 2)) {
    MPI_Type_vector(blocks, length, backwards * (int)stride, element->type, &layout->type);
    stride *= backwards * element->extent;
  } else {
    stride = backwards * (length * (MPI_Aint)element->extent + unit * (MPI_Aint)below(random, 20));
    MPI_Type_create_hvector(blocks, length, stride, element->type, &layout->type);
  }
  for (int i = 0; i < layout->per; ++i) layout->at[i] = i / length * stride + i % length * (MPI_Aint)element->extent;
}

static void make_indexed(struct Random* random, struct Layout* layout, const struct Element* element, int unit) {
  struct Blocks blocks;
  const int alike = one_in(random, 3), in_bytes = one_in(random, 2), extent = element->extent;
  draw_blocks(random, layout->per, alike, extent, in_bytes ? unit : extent, &blocks);
  int places[kBlocksMax];
  for (int i = 0; i < blocks.number; ++i) places[i] = (int)(blocks.at[i] / extent);
  if (alike && in_bytes)
    MPI_Type_create_hindexed_block(blocks.number, blocks.lengths[0], blocks.at, element->type, &layout->type);
  else if (alike)
    MPI_Type_create_indexed_block(blocks.number, blocks.lengths[0], places, element->type, &layout->type);
  else if (in_bytes)
    MPI_Type_create_hindexed(blocks.number, blocks.lengths, blocks.at, element->type, &layout->type);
  else
    MPI_Type_indexed(blocks.number, blocks.lengths, places, element->type, &layout->type);
  lay_blocks(layout, &blocks, extent);
}

// Some of its members are arrays.
static void make_struct(struct Random* random, struct Layout* layout, const struct Element* element, int unit) {
  struct Blocks blocks;
  draw_blocks(random, layout->per, 0, element->extent, unit, &blocks);
  int lengths[kBlocksMax];
  MPI_Datatype types[kBlocksMax];
  for (int i = 0; i < blocks.number; ++i) {
    const int array = one_in(random, 2);
    lengths[i] = array ? 1 : blocks.lengths[i];
    types[i] = element->type;
    if (array) MPI_Type_contiguous(blocks.lengths[i], element->type, &types[i]);
  }
  MPI_Type_create_struct(blocks.number, lengths, blocks.at, types, &layout->type);
  for (int i = 0; i < blocks.number; ++i) {
    if (types[i] != element->type) MPI_Type_free(&types[i]);
  }
  lay_blocks(layout, &blocks, element->extent);
}

static void make_subarray(struct Random* random, struct Layout* layout, const struct Element* element) {
  const int columns = draw_divisor(random, layout->per);
  const int parts[] = {layout->per / columns, columns}, starts[] = {below(random, 3), below(random, 3)};
  const int sizes[] = {parts[0] + starts[0] + below(random, 2), parts[1] + starts[1] + below(random, 3)};
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, element->type, &layout->type);
  for (int i = 0; i < layout->per; ++i) {
    const int row = starts[0] + i / columns, column = starts[1] + i % columns;
    layout->at[i] = (row * (MPI_Aint)sizes[1] + column) * element->extent;
  }
}

static void find_ends(struct Layout* layout, const struct Element* element, int elements) {
  layout->low = layout->high = 0;
  for (int i = 0; i < elements; ++i) {
    const MPI_Aint at = place(layout, i);
    if (i == 0 || at < layout->low) layout->low = at;
    if (i == 0 || at + element->extent > layout->high) layout->high = at + element->extent;
  }
}

static void resize(struct Random* random, struct Layout* layout, const struct Element* element, int unit) {
  find_ends(layout, element, layout->per);
  const MPI_Aint pad = unit * (MPI_Aint)below(random, 3);
  MPI_Aint extent = layout->high - layout->low + pad;
  if (one_in(random, 4)) extent = -extent;
  MPI_Datatype made;
  MPI_Type_create_resized(layout->type, layout->low, extent, &made);
  if (layout->is_derived) MPI_Type_free(&layout->type);
  layout->type = made;
  layout->is_derived = 1;
}

// Draws a datatype of `elements` elements; if `unit` is the element's extent all are aligned, as accumulates require.
static struct Layout draw_layout(struct Random* random, const struct Element* element, int elements, int unit,
                                 int plain) {
  struct Layout layout = {.type = element->type, .count = elements, .per = 1, .extent = element->extent};
  const int kind = plain ? 0 : below(random, 6);
  if (kind > 0 && elements > 0) layout.per = draw_divisor(random, elements);
  layout.at = memory_of((size_t)layout.per * sizeof(MPI_Aint));
  for (int i = 0; i < layout.per; ++i) layout.at[i] = i * (MPI_Aint)element->extent;
  layout.is_derived = kind > 0 && elements > 0;
  if (layout.is_derived) {
    layout.count = elements / layout.per;
    if (kind == 1) MPI_Type_contiguous(layout.per, element->type, &layout.type);
    if (kind == 2) make_vector(random, &layout, element, unit);
    if (kind == 3) make_indexed(random, &layout, element, unit);
    if (kind == 4) make_struct(random, &layout, element, unit);
    if (kind == 5) make_subarray(random, &layout, element);
    if (one_in(random, 3)) resize(random, &layout, element, unit);
    MPI_Type_commit(&layout.type);
    MPI_Aint low = 0;
    MPI_Type_get_extent(layout.type, &low, &layout.extent);
  }
  find_ends(&layout, element, elements);
  return layout;
}
