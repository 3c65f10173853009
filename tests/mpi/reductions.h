// Reductions for the programs of collectives: predefined ones, a sum defined by the program, and affine maps x -> a x +
// b, which do not commute, without a gap and with one below their address. The expected results are computed from the
// inputs of all ranks.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "check.h"

typedef struct {
  uint64_t a, b;
} Map;

enum { kGapExtent = 24, kGapBelow = 16 };  // b, a gap of 8 bytes, and a, at the element's address

// `first`, then `second`.
static Map composed(Map first, Map second) {
  return (Map){first.a * second.a, first.b * second.a + second.b};
}
static Map added(Map first, Map second) {
  return (Map){first.a + second.a, first.b + second.b};
}

static void compose_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
  const Map* first = in;
  Map* second = inout;
  (void)type;
  for (int i = 0; i < *length; ++i) second[i] = composed(first[i], second[i]);
}
static void add_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
  const Map* first = in;
  Map* second = inout;
  (void)type;
  for (int i = 0; i < *length; ++i) second[i] = added(first[i], second[i]);
}

static Map gapped_map(const char* at) {
  Map map;
  memcpy(&map.a, at, 8);
  memcpy(&map.b, at - kGapBelow, 8);
  return map;
}
static void put_gapped_map(char* at, Map map) {
  memcpy(at, &map.a, 8);
  memcpy(at - kGapBelow, &map.b, 8);
}
static void compose_gapped_maps(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) {
    char* to = (char*)inout + i * kGapExtent;
    put_gapped_map(to, composed(gapped_map((char*)in + i * kGapExtent), gapped_map(to)));
  }
}

// The kind of a reduction: the layout of its elements, and its operation.
enum { kSumOfInts, kMaxOfDoubles, kXorOfBytes, kMinLoc, kCommuting, kOrdered, kGapped, kReductions };
typedef struct {
  MPI_Datatype type;
  MPI_Op op;
  size_t extent;
  Map (*both)(Map first, Map second);
} Reduction;

static Map xored(Map first, Map second) {
  return (Map){first.a ^ second.a, 0};
}
static Map larger(Map first, Map second) {
  return (Map){first.a > second.a ? first.a : second.a, 0};
}
static Map lesser_and_where(Map first, Map second) {
  if (first.a == second.a) return (Map){first.a, first.b < second.b ? first.b : second.b};
  return first.a < second.a ? first : second;
}

typedef struct {
  double value;
  int where;
} DoubleInt;

__attribute__((unused)) static void make_reductions(Reduction reductions[kReductions]) {
  reductions[kSumOfInts] = (Reduction){MPI_INT, MPI_SUM, sizeof(int), added};
  reductions[kMaxOfDoubles] = (Reduction){MPI_DOUBLE, MPI_MAX, sizeof(double), larger};
  reductions[kXorOfBytes] = (Reduction){MPI_UNSIGNED_CHAR, MPI_BXOR, 1, xored};
  reductions[kMinLoc] = (Reduction){MPI_DOUBLE_INT, MPI_MINLOC, sizeof(DoubleInt), lesser_and_where};
  reductions[kCommuting] = (Reduction){MPI_DATATYPE_NULL, MPI_OP_NULL, sizeof(Map), added};
  reductions[kOrdered] = (Reduction){MPI_DATATYPE_NULL, MPI_OP_NULL, sizeof(Map), composed};
  reductions[kGapped] = (Reduction){MPI_DATATYPE_NULL, MPI_OP_NULL, kGapExtent, composed};
  MPI_Type_contiguous(2, MPI_UINT64_T, &reductions[kCommuting].type);
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){offsetof(Map, a), offsetof(Map, b)},
                         (MPI_Datatype[]){MPI_UINT64_T, MPI_UINT64_T}, &reductions[kOrdered].type);
  MPI_Type_create_hvector(2, 1, -kGapBelow, MPI_UINT64_T, &reductions[kGapped].type);
  for (int i = kCommuting; i < kReductions; ++i) MPI_Type_commit(&reductions[i].type);
  MPI_Op_create(add_maps, 1, &reductions[kCommuting].op);
  MPI_Op_create(compose_maps, 0, &reductions[kOrdered].op);
  MPI_Op_create(compose_gapped_maps, 0, &reductions[kGapped].op);
}
__attribute__((unused)) static void free_reductions(Reduction reductions[kReductions]) {
  for (int i = kCommuting; i < kReductions; ++i) {
    MPI_Type_free(&reductions[i].type);
    MPI_Op_free(&reductions[i].op);
  }
}

// Element `i` of the input of `rank`.
static Map input_of(int which, unsigned seed, int rank, int i) {
  const uint64_t a = (uint64_t)seed % 1000 + (uint64_t)rank * 31 % 17 + (uint64_t)i % 1000;
  if (which == kXorOfBytes) return (Map){a & 255, 0};
  return (Map){which == kMinLoc ? (a + (uint64_t)rank * 5) % 7 : 2 * a + 1, (uint64_t)rank + (uint64_t)i % 3};
}

// The combination of the ranks from `first` to before `end`, in their order; at least one rank.
__attribute__((unused)) static Map reduced(const Reduction* reductions, int which, unsigned seed, int first, int end,
                                           int i) {
  Map all = input_of(which, seed, first, i);
  for (int rank = first + 1; rank < end; ++rank) all = reductions[which].both(all, input_of(which, seed, rank, i));
  return all;
}

// Writes an element in the layout of the reduction's datatype, and nothing else.
__attribute__((unused)) static void put_element(char* at, int which, Map map) {
  const DoubleInt pair = {(double)map.a, (int)map.b};
  const int number = (int)map.a;
  const double real = (double)map.a;
  const unsigned char byte = (unsigned char)map.a;
  switch (which) {
    case kSumOfInts:
      memcpy(at, &number, sizeof number);
      break;
    case kMaxOfDoubles:
      memcpy(at, &real, sizeof real);
      break;
    case kXorOfBytes:
      memcpy(at, &byte, sizeof byte);
      break;
    case kMinLoc:
      memcpy(at, &pair.value, sizeof pair.value);
      memcpy(at + offsetof(DoubleInt, where), &pair.where, sizeof pair.where);
      break;
    case kGapped:
      put_gapped_map(at, map);
      break;
    default:
      memcpy(at, &map, sizeof map);
  }
}

// Memory of elements with a margin on both sides, and its expected contents.
enum { kAroundElements = 32, kUntouchedElement = 0xa5 };
typedef struct {
  char *now, *expected;
  size_t extent, room;
} Elements;

__attribute__((unused)) static Elements elements_of(int count, size_t extent) {
  const size_t room = (size_t)count * extent + 2 * kAroundElements;
  return (Elements){(char*)memory_of(room) + kAroundElements, (char*)memory_of(room) + kAroundElements, extent, room};
}
__attribute__((unused)) static void elements_free(Elements* elements) {
  free(elements->now - kAroundElements);
  free(elements->expected - kAroundElements);
}
__attribute__((unused)) static void elements_clear(Elements* elements) {
  memset(elements->now - kAroundElements, kUntouchedElement, elements->room);
  memset(elements->expected - kAroundElements, kUntouchedElement, elements->room);
}

// Checks the first `count` elements and the margins; the padding of a pair may have any contents.
__attribute__((unused)) static void elements_check(Elements* elements, int which, int count, const char* what,
                                                   int form) {
  const size_t extent = elements->extent;
  for (int i = 0; which == kMinLoc && i < count; ++i) {
    const size_t at = (size_t)i * extent + offsetof(DoubleInt, where) + sizeof(int);
    memcpy(elements->expected + at, elements->now + at, (size_t)(i + 1) * extent - at);
  }
  const size_t all = elements->room - 2 * kAroundElements, below = which == kGapped ? kGapBelow : 0;
  CHECK(memcmp(elements->now + all, elements->expected + all, kAroundElements) == 0, "%s, form %d: wrote past the end",
        what, form);
  CHECK(memcmp(elements->now - kAroundElements, elements->expected - kAroundElements, kAroundElements - below) == 0,
        "%s, form %d: wrote before the first", what, form);
  for (int i = 0; i < count; ++i) {
    const size_t at = (size_t)i * extent;
    if (memcmp(elements->now + at - below, elements->expected + at - below, extent) == 0) continue;
    CHECK(0, "%s, reduction %d, form %d: element %d of %d is wrong", what, which, form, i, count);
    return;
  }
}
