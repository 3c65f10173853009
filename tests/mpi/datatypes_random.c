// Tests of random trees of datatypes, packed, unpacked and sent, compared with the bytes of a type map computed
// separately. Each rank draws the same trees. MPICH 4.0.2 divides by the size of some components, so its trees have no
// empty ones.
// ranks: 2
// timeout: 60
#include <stdint.h>

#include "check.h"

enum { kTrees = 10000, kDepth = 3, kItemsMax = 600, kReach = 30000, kTag = 3, kPartsMax = 4 };

// A type map: basic elements in the order in which they are packed.
struct map {
  int count;
  MPI_Aint offset[kItemsMax];
  int bytes[kItemsMax];
};

static uint64_t random_state = 88172645463325252ULL;
static int between(int low, int high) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return low + (int)(random_state % (uint64_t)(high - low + 1));
}

static int few(int most) {
  return between(on_margay() ? 0 : 1, most);
}

// Appends `part` at `at`. A map that grows too large stays at kItemsMax: such trees are skipped.
static void place(struct map* map, const struct map* part, MPI_Aint at) {
  for (int i = 0; i < part->count && map->count < kItemsMax; ++i) {
    map->offset[map->count] = at + part->offset[i];
    map->bytes[map->count++] = part->bytes[i];
  }
}
static void place_block(struct map* map, const struct map* part, MPI_Aint at, int length, MPI_Aint extent) {
  for (int i = 0; i < length; ++i) place(map, part, at + i * extent);
}

static MPI_Datatype leaf(struct map* map) {
  static const MPI_Datatype kTypes[] = {MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE, MPI_LONG_LONG, MPI_DOUBLE_INT};
  static const int kBytes[] = {1, 2, 4, 8, 8, 8};
  const int which = between(0, 5);
  MPI_Datatype type;
  map->count = 1;
  map->offset[0] = 0;
  map->bytes[0] = kBytes[which];
  if (kTypes[which] == MPI_DOUBLE_INT) {
    map->count = 2;
    map->offset[1] = 8;
    map->bytes[1] = 4;
  }
  MPI_Type_dup(kTypes[which], &type);
  return type;
}

static MPI_Datatype grow(int depth, struct map* map);

static MPI_Datatype structure(int depth, struct map* map) {
  const int count = between(1, 3);
  int lengths[kPartsMax];
  MPI_Aint places[kPartsMax], lower, extent;
  MPI_Datatype parts[kPartsMax], type;
  struct map* part = memory_of(sizeof *part);
  for (int i = 0; i < count; ++i) {
    parts[i] = grow(depth - 1, part);
    lengths[i] = few(2);
    places[i] = between(-100, 200);
    MPI_Type_get_extent(parts[i], &lower, &extent);
    place_block(map, part, places[i], lengths[i], extent);
  }
  MPI_Type_create_struct(count, lengths, places, parts, &type);
  for (int i = 0; i < count; ++i) MPI_Type_free(&parts[i]);
  free(part);
  return type;
}

static MPI_Datatype subarray(MPI_Datatype old, const struct map* part, MPI_Aint extent, struct map* map) {
  int sizes[2], subsizes[2], starts[2];
  for (int i = 0; i < 2; ++i) {
    sizes[i] = between(1, 4);
    subsizes[i] = between(1, sizes[i]);
    starts[i] = between(0, sizes[i] - subsizes[i]);
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, old, &type);
  for (int row = starts[0]; row < starts[0] + subsizes[0]; ++row)
    place_block(map, part, (row * sizes[1] + starts[1]) * extent, subsizes[1], extent);
  return type;
}

// Draws a type built from `old`, whose map is `part`.
static MPI_Datatype around(MPI_Datatype old, const struct map* part, struct map* map) {
  const int count = few(kPartsMax), length = few(3), stride = between(-4, 5);
  const MPI_Aint bytes = between(-64, 64);
  int lengths[kPartsMax], places[kPartsMax];
  MPI_Aint byte_places[kPartsMax], lower, extent;
  MPI_Datatype type;
  MPI_Type_get_extent(old, &lower, &extent);
  for (int i = 0; i < kPartsMax; ++i) {
    lengths[i] = few(3);
    places[i] = between(-5, 8);
    byte_places[i] = between(-50, 80);
  }
  switch (between(0, 7)) {
    case 0:
      MPI_Type_contiguous(count, old, &type);
      place_block(map, part, 0, count, extent);
      return type;
    case 1:
      MPI_Type_vector(count, length, stride, old, &type);
      for (int i = 0; i < count; ++i) place_block(map, part, i * stride * extent, length, extent);
      return type;
    case 2:
      MPI_Type_create_hvector(count, length, bytes, old, &type);
      for (int i = 0; i < count; ++i) place_block(map, part, i * bytes, length, extent);
      return type;
    case 3:
      MPI_Type_indexed(count, lengths, places, old, &type);
      for (int i = 0; i < count; ++i) place_block(map, part, places[i] * extent, lengths[i], extent);
      return type;
    case 4:
      MPI_Type_create_hindexed(count, lengths, byte_places, old, &type);
      for (int i = 0; i < count; ++i) place_block(map, part, byte_places[i], lengths[i], extent);
      return type;
    case 5:
      MPI_Type_create_indexed_block(count, length, places, old, &type);
      for (int i = 0; i < count; ++i) place_block(map, part, places[i] * extent, length, extent);
      return type;
    case 6:
      MPI_Type_create_resized(old, bytes, between(0, 100), &type);
      place(map, part, 0);
      return type;
    default:
      return subarray(old, part, extent, map);
  }
}

static MPI_Datatype grow(int depth, struct map* map) {
  map->count = 0;
  if (depth == 0 || between(0, 5) == 0) return leaf(map);
  if (between(0, 3) == 0) return structure(depth, map);
  struct map* part = memory_of(sizeof *part);
  MPI_Datatype old = grow(depth - 1, part), type;
  type = around(old, part, map);
  MPI_Type_free(&old);
  free(part);
  return type;
}

// Computes the map of `count` elements. Returns 0 if it has too many items or too large a range.
static int repeat(const struct map* one, int count, MPI_Aint extent, struct map* all) {
  all->count = 0;
  place_block(all, one, 0, count, extent);
  if (one->count == kItemsMax || all->count == kItemsMax) return 0;
  for (int i = 0; i < all->count; ++i)
    if (all->offset[i] < -kReach || all->offset[i] > kReach - 16) return 0;
  return 1;
}

// Whether each byte occurs at most once: only then may the type be used in a receive.
static int distinct(const struct map* map) {
  static char seen[2 * kReach];
  memset(seen, 0, sizeof seen);
  for (int i = 0; i < map->count; ++i)
    for (int byte = 0; byte < map->bytes[i]; ++byte)
      if (seen[kReach + map->offset[i] + byte]++ != 0) return 0;
  return 1;
}

static int gather(const struct map* map, const char* base, char* packed) {
  int bytes = 0;
  for (int i = 0; i < map->count; bytes += map->bytes[i++])
    memcpy(packed + bytes, base + map->offset[i], (size_t)map->bytes[i]);
  return bytes;
}
static void scatter(const struct map* map, const char* packed, char* base) {
  for (int i = 0; i < map->count; packed += map->bytes[i++])
    memcpy(base + map->offset[i], packed, (size_t)map->bytes[i]);
}

static void move(MPI_Datatype type, int count, const struct map* map, int partner, int tree) {
  static char memory[2 * kReach], landing[2 * kReach], expected[2 * kReach];
  static char by_hand[16 * kItemsMax], packed[16 * kItemsMax];
  char* const from = memory + kReach;
  char* const to = landing + kReach;
  int position = 0, size = -1;
  MPI_Status status;
  pattern_fill(memory, sizeof memory, (unsigned)tree);
  const int bytes = gather(map, from, by_hand);
  MPI_Pack_size(count, type, MPI_COMM_WORLD, &size);
  CHECK(size >= bytes, "tree %d: MPI_Pack_size is %d, for %d bytes", tree, size, bytes);
  MPI_Pack(from, count, type, packed, sizeof packed, &position, MPI_COMM_WORLD);
  CHECK(position == bytes && memcmp(packed, by_hand, (size_t)bytes) == 0, "tree %d is packed wrongly", tree);
  memset(packed, 0, sizeof packed);
  MPI_Sendrecv(from, count, type, partner, kTag, packed, sizeof packed, MPI_PACKED, partner, kTag, MPI_COMM_WORLD,
               &status);
  check_status("a tree", &status, partner, kTag, bytes);
  CHECK(memcmp(packed, by_hand, (size_t)bytes) == 0, "tree %d is sent wrongly", tree);
  if (!distinct(map)) return;
  memset(expected, 0x5a, sizeof expected);
  scatter(map, by_hand, expected + kReach);
  memset(landing, 0x5a, sizeof landing);
  position = 0;
  MPI_Unpack(by_hand, bytes, &position, to, count, type, MPI_COMM_WORLD);
  CHECK(position == bytes && memcmp(landing, expected, sizeof landing) == 0, "tree %d is unpacked wrongly", tree);
  memset(landing, 0x5a, sizeof landing);
  MPI_Sendrecv(by_hand, bytes, MPI_PACKED, partner, kTag, to, count, type, partner, kTag, MPI_COMM_WORLD, &status);
  CHECK(memcmp(landing, expected, sizeof landing) == 0, "tree %d is received wrongly", tree);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank);
  static struct map one, all;
  int moved = 0;
  for (int tree = 0; tree < kTrees; ++tree) {
    MPI_Datatype type = grow(between(1, kDepth), &one);
    const int count = between(1, 3);
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    if (repeat(&one, count, extent, &all)) {
      MPI_Type_commit(&type);
      move(type, count, &all, partner, tree);
      ++moved;
    }
    MPI_Type_free(&type);
  }
  CHECK(moved > kTrees * 9 / 10, "only %d trees were moved", moved);
  return suite_end("datatypes_random");
}
