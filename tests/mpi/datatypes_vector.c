// Tests of contiguous and vector datatypes: sizes and extents, nested ones, strides, receives with another layout, and
// every send mode that keeps the user's buffer for later.
// ranks: 2
#include "check.h"

enum { kTag = 9, kCells = 120000 };

static int cells[kCells], landed[kCells];

// A datatype over ints together with the offsets (in ints) of its elements in order.
struct Layout {
  const char* name;
  MPI_Datatype type;
  int elements;
  int extent;  // in ints
  int* offsets;
};

static struct Layout base_layout(void) {
  struct Layout layout = {"int", MPI_INT, 1, 1, memory_of(sizeof(int))};
  layout.offsets[0] = 0;
  return layout;
}

// MPI_Type_vector's definition, computed here a second time. Strides may be negative.
static struct Layout vector_of(const char* name, struct Layout old, int count, int length, int stride) {
  struct Layout made = {name, MPI_DATATYPE_NULL, old.elements * count * length, 0, NULL};
  made.offsets = memory_of(sizeof(int) * (size_t)made.elements);
  int at = 0, lowest = 0, highest = 0;
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < length; ++j) {
      const int begin = (i * stride + j) * old.extent;
      if (begin < lowest) lowest = begin;
      if (begin + old.extent > highest) highest = begin + old.extent;
      for (int k = 0; k < old.elements; ++k) made.offsets[at++] = begin + old.offsets[k];
    }
  made.extent = highest - lowest;
  MPI_Type_vector(count, length, stride, old.type, &made.type);
  MPI_Type_commit(&made.type);
  return made;
}

static struct Layout contiguous_of(const char* name, struct Layout old, int count) {
  struct Layout made = {name, MPI_DATATYPE_NULL, old.elements * count, old.extent * count, NULL};
  made.offsets = memory_of(sizeof(int) * (size_t)made.elements);
  for (int i = 0; i < count; ++i)
    for (int k = 0; k < old.elements; ++k) made.offsets[i * old.elements + k] = i * old.extent + old.offsets[k];
  MPI_Type_contiguous(count, old.type, &made.type);
  MPI_Type_commit(&made.type);
  return made;
}

static void free_layout(struct Layout* layout) {
  if (layout->type != MPI_INT) MPI_Type_free(&layout->type);
  free(layout->offsets);
}

static void sizes(const struct Layout* layout) {
  int bytes = 0;
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_size(layout->type, &bytes);
  MPI_Type_get_extent(layout->type, &lower, &extent);
  CHECK(bytes == layout->elements * (int)sizeof(int), "%s: size %d", layout->name, bytes);
  CHECK(extent == layout->extent * (MPI_Aint)sizeof(int), "%s: extent %ld", layout->name, (long)extent);
}

static void send_one(const struct Layout* layout, int count, int at, int mode, int partner) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int* from = cells + at;
  if (mode == 0) MPI_Send(from, count, layout->type, partner, kTag, MPI_COMM_WORLD);
  if (mode == 1) MPI_Issend(from, count, layout->type, partner, kTag, MPI_COMM_WORLD, &request);
  if (mode == 2) MPI_Ibsend(from, count, layout->type, partner, kTag, MPI_COMM_WORLD, &request);
  if (mode == 3) MPI_Send_init(from, count, layout->type, partner, kTag, MPI_COMM_WORLD, &request);
  if (mode == 3) MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (mode == 3) MPI_Request_free(&request);
}

// Both sides compute the expected contents; every int outside of the layout must be unchanged.
static void receive_one(const struct Layout* sent, const struct Layout* layout, int count, int at, int partner,
                        int posted_before) {
  MPI_Status status;
  MPI_Request request;
  const int ints = sent->elements * count, elements = layout->elements, copies = ints / elements;
  for (int i = 0; i < kCells; ++i) landed[i] = -i - 1;
  if (!posted_before) MPI_Probe(partner, kTag, MPI_COMM_WORLD, &status);
  MPI_Irecv(landed + at, copies, layout->type, partner, kTag, MPI_COMM_WORLD, &request);
  if (posted_before) signal_to(partner, kTag + 1);
  MPI_Wait(&request, &status);
  check_status(layout->name, &status, partner, kTag, ints * (int)sizeof(int));
  for (int i = 0; i < ints; ++i) {
    const int from = at + i / sent->elements * sent->extent + sent->offsets[i % sent->elements];
    const int to = at + i / elements * layout->extent + layout->offsets[i % elements];
    CHECK(landed[to] == cells[from], "%s to %s: element %d is %d, expected %d", sent->name, layout->name, i, landed[to],
          cells[from]);
    landed[to] = -to - 1;
  }
  for (int i = 0; i < kCells; ++i)
    CHECK(landed[i] == -i - 1, "%s to %s: int %d was written", sent->name, layout->name, i);
}

enum { kLayouts = 9 };

static void make_layouts(struct Layout* made) {
  made[0] = base_layout();
  made[1] = contiguous_of("contiguous 6", made[0], 6);
  made[2] = vector_of("vector 3x2 by 5", made[0], 3, 2, 5);
  made[3] = vector_of("column of 60", made[0], 60, 1, 64);
  made[4] = vector_of("vector as contiguous", made[0], 4, 3, 3);
  made[5] = contiguous_of("contiguous of vectors", made[2], 4);
  made[6] = vector_of("vector of vectors", made[2], 3, 2, 4);
  made[7] = vector_of("vector of contiguous", made[1], 5, 1, 2);
  struct Layout inner = vector_of("inner", made[1], 2, 1, 3);
  made[8] = vector_of("vector of vectors of contiguous", inner, 2, 2, 3);
  free_layout(&inner);
  for (int i = 0; i < kLayouts; ++i) sizes(&made[i]);
}

// As many copies of the sender's layout as make whole copies of the receiver's.
static int copies_of(const struct Layout* sent, const struct Layout* received, int at_least) {
  int count = at_least;
  while (count * sent->elements % received->elements != 0) ++count;
  return count;
}

static int fits(const struct Layout* layout, int ints, int at) {
  return at + ints / layout->elements * layout->extent <= kCells;
}

// Negative strides: the elements are below the given address.
static void negative_stride(int rank, int partner) {
  struct Layout base = base_layout();
  struct Layout back = vector_of("backwards", base, 10, 2, -3);
  const int origin = 100;
  if (rank < partner) {
    MPI_Send(cells + origin, 1, back.type, partner, kTag, MPI_COMM_WORLD);
  } else {
    MPI_Recv(landed, 20, MPI_INT, partner, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < 20; ++i)
      CHECK(landed[i] == cells[origin + back.offsets[i]], "backwards: element %d is %d", i, landed[i]);
  }
  free_layout(&back);
  free_layout(&base);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank), at = 128;
  int buffer_bytes = 1 << 20, transfers = 0;
  void* buffer = memory_of((size_t)buffer_bytes);
  struct Layout layouts[kLayouts];
  for (int i = 0; i < kCells; ++i) cells[i] = 7 * i + 3;
  MPI_Buffer_attach(buffer, buffer_bytes);
  make_layouts(layouts);
  for (int s = 0; s < kLayouts; ++s)
    for (int r = 0; r < kLayouts; ++r)
      for (int big = 0; big < 2; ++big) {
        const struct Layout *sent = &layouts[s], *received = &layouts[r];
        const int count = copies_of(sent, received, big ? 24000 / sent->elements : 1), ints = count * sent->elements;
        if (!fits(sent, ints, at) || !fits(received, ints, at)) continue;
        const int mode = transfers % 4, posted_before = transfers % 3 == 0;
        ++transfers;
        if (rank < partner) {
          if (posted_before) wait_for(partner, kTag + 1);
          send_one(sent, count, at, mode, partner);
        } else {
          receive_one(sent, received, count, at, partner, posted_before);
        }
      }
  if (rank == 0) printf("%d transfers between %d layouts\n", transfers, kLayouts);
  negative_stride(rank, partner);
  for (int i = 0; i < kLayouts; ++i) free_layout(&layouts[i]);
  CHECK(layouts[1].type == MPI_DATATYPE_NULL, "Type_free left the handle");
  MPI_Buffer_detach(&buffer, &buffer_bytes);
  free(buffer);
  return suite_end("datatypes_vector");
}
