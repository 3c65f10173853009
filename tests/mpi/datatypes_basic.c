// Tests of every predefined datatype: its size, its extent, and a transfer of 0, 1 and 1,000 elements.
// ranks: 2
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "check.h"

struct Type {
  const char* name;
  MPI_Datatype type;
  int bytes;   // of data
  int extent;  // from one element to the next
};

#define PLAIN(type, c_type) \
  { #type, type, (int)sizeof(c_type), (int)sizeof(c_type) }
struct float_int {
  float value;
  int index;
};
struct double_int {
  double value;
  int index;
};
struct long_int {
  long value;
  int index;
};
struct short_int {
  short value;
  int index;
};
struct long_double_int {
  long double value;
  int index;
};
#define PAIR(type, c_value, c_struct) \
  { #type, type, (int)(sizeof(c_value) + sizeof(int)), (int)sizeof(struct c_struct) }

static const struct Type kTypes[] = {
    PLAIN(MPI_CHAR, char),
    PLAIN(MPI_SIGNED_CHAR, signed char),
    PLAIN(MPI_UNSIGNED_CHAR, unsigned char),
    PLAIN(MPI_BYTE, unsigned char),
    PLAIN(MPI_PACKED, unsigned char),
    PLAIN(MPI_WCHAR, wchar_t),
    PLAIN(MPI_SHORT, short),
    PLAIN(MPI_UNSIGNED_SHORT, unsigned short),
    PLAIN(MPI_INT, int),
    PLAIN(MPI_UNSIGNED, unsigned),
    PLAIN(MPI_LONG, long),
    PLAIN(MPI_UNSIGNED_LONG, unsigned long),
    PLAIN(MPI_LONG_LONG_INT, long long),
    PLAIN(MPI_LONG_LONG, long long),
    PLAIN(MPI_UNSIGNED_LONG_LONG, unsigned long long),
    PLAIN(MPI_FLOAT, float),
    PLAIN(MPI_DOUBLE, double),
    PLAIN(MPI_LONG_DOUBLE, long double),
    PLAIN(MPI_C_BOOL, _Bool),
    PLAIN(MPI_INT8_T, int8_t),
    PLAIN(MPI_INT16_T, int16_t),
    PLAIN(MPI_INT32_T, int32_t),
    PLAIN(MPI_INT64_T, int64_t),
    PLAIN(MPI_UINT8_T, uint8_t),
    PLAIN(MPI_UINT16_T, uint16_t),
    PLAIN(MPI_UINT32_T, uint32_t),
    PLAIN(MPI_UINT64_T, uint64_t),
    PLAIN(MPI_C_COMPLEX, float _Complex),
    PLAIN(MPI_C_FLOAT_COMPLEX, float _Complex),
    PLAIN(MPI_C_DOUBLE_COMPLEX, double _Complex),
    PLAIN(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex),
    PLAIN(MPI_AINT, MPI_Aint),
    PLAIN(MPI_OFFSET, MPI_Offset),
    PLAIN(MPI_COUNT, MPI_Count),
    PAIR(MPI_FLOAT_INT, float, float_int),
    PAIR(MPI_DOUBLE_INT, double, double_int),
    PAIR(MPI_LONG_INT, long, long_int),
    PAIR(MPI_SHORT_INT, short, short_int),
    PAIR(MPI_LONG_DOUBLE_INT, long double, long_double_int),
    {"MPI_2INT", MPI_2INT, 2 * (int)sizeof(int), 2 * (int)sizeof(int)},
    PLAIN(MPI_CXX_BOOL, _Bool),
    PLAIN(MPI_CXX_FLOAT_COMPLEX, float _Complex),
    PLAIN(MPI_CXX_DOUBLE_COMPLEX, double _Complex),
    PLAIN(MPI_CXX_LONG_DOUBLE_COMPLEX, long double _Complex),
    PLAIN(MPI_INTEGER, int),
    PLAIN(MPI_REAL, float),
    PLAIN(MPI_DOUBLE_PRECISION, double),
    PLAIN(MPI_COMPLEX, float _Complex),
    PLAIN(MPI_DOUBLE_COMPLEX, double _Complex),
    PLAIN(MPI_LOGICAL, int),
    PLAIN(MPI_CHARACTER, char),
    PLAIN(MPI_2REAL, float _Complex),
    PLAIN(MPI_2DOUBLE_PRECISION, double _Complex),
    PLAIN(MPI_2INTEGER, float _Complex),
    PLAIN(MPI_INTEGER1, int8_t),
    PLAIN(MPI_INTEGER2, int16_t),
    PLAIN(MPI_INTEGER4, int32_t),
    PLAIN(MPI_INTEGER8, int64_t),
    PLAIN(MPI_REAL4, float),
    PLAIN(MPI_REAL8, double),
    PLAIN(MPI_COMPLEX8, float _Complex),
    PLAIN(MPI_COMPLEX16, double _Complex),
};
enum { kTypeCount = sizeof kTypes / sizeof kTypes[0], kTag = 3 };

static void sizes(const struct Type* type) {
  int bytes = -1;
  MPI_Aint lower = -1, extent = -1;
  MPI_Type_size(type->type, &bytes);
  MPI_Type_get_extent(type->type, &lower, &extent);
  CHECK(bytes == type->bytes, "%s: size %d, expected %d", type->name, bytes, type->bytes);
  CHECK(lower == 0, "%s: lower bound %ld", type->name, (long)lower);
  CHECK(extent == type->extent, "%s: extent %ld, expected %d", type->name, (long)extent, type->extent);
}

// The bytes of an element that hold data: all of it or, in a pair, the value and then the index.
static int is_data(const struct Type* type, int offset) {
  if (type->bytes == type->extent) return 1;
  const int value_bytes = type->bytes - (int)sizeof(int);
  const int index_at = type->type == MPI_SHORT_INT ? (int)offsetof(struct short_int, index) : value_bytes;
  return offset < value_bytes || (offset >= index_at && offset < index_at + (int)sizeof(int));
}

static void transfer(const struct Type* type, int count, int rank, int partner) {
  const size_t bytes = (size_t)count * (size_t)type->extent;
  unsigned char* body = memory_of(bytes);
  if (rank < partner) {
    pattern_fill(body, bytes, 12);
    MPI_Send(body, count, type->type, partner, kTag, MPI_COMM_WORLD);
  } else {
    MPI_Status status;
    int received = -1;
    memset(body, 0, bytes);
    MPI_Recv(body, count, type->type, partner, kTag, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type->type, &received);
    CHECK(received == count, "%s: %d of %d elements", type->name, received, count);
    check_status(type->name, &status, partner, kTag, count * type->bytes);
    for (size_t i = 0; i < bytes; ++i)
      if (is_data(type, (int)(i % (size_t)type->extent)) && body[i] != pattern_byte(12, i)) {
        CHECK(0, "%s, %d elements: byte %zu is wrong", type->name, count, i);
        break;
      }
  }
  free(body);
}

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  const int rank = world_rank(), partner = partner_of(rank);
  for (int i = 0; i < kTypeCount; ++i) {
    // A type that the platform lacks is MPI_DATATYPE_NULL.
    if (kTypes[i].type == MPI_DATATYPE_NULL) continue;
    sizes(&kTypes[i]);
    transfer(&kTypes[i], 0, rank, partner);
    transfer(&kTypes[i], 1, rank, partner);
    transfer(&kTypes[i], 1000, rank, partner);
    if (rank == 0) printf("%s: %d bytes\n", kTypes[i].name, kTypes[i].bytes);
  }
  return suite_end("datatypes_basic");
}
