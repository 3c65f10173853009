// Random numbers, the elements that accesses move, and the effects of accumulates (MPI 4.0, 12.3.4), computed in plain
// C, for random.c.
#pragma once

#include <complex.h>
#include <stdbool.h>
#include <stdint.h>

#include "../check.h"

struct Random {
  uint64_t state;
};

static uint64_t next(struct Random* random) {  // SplitMix64
  uint64_t x = random->state += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
// 0 to limit - 1.
static int below(struct Random* random, int limit) {
  return limit <= 1 ? 0 : (int)(next(random) % (unsigned)limit);
}
static int one_in(struct Random* random, int chances) {
  return below(random, chances) == 0;
}

enum Family { kSigned, kUnsigned, kReal, kComplex, kLogical, kBits, kPair, kMixed };

// The bytes with a meaning are `pieces`, in the order of the type map. The bytes from `hole` on have no meaning: their
// contents after an access are not checked.
struct Element {
  const char* name;
  MPI_Datatype type;
  enum Family family;
  int extent, hole;
  int pieces[2][2];  // place, bytes
};

enum { kPlainElements = 17, kElements = 19, kIntegers = 8 };

static const struct Element* elements(void) {
  // The last two have the same signature in two layouts; their types are made below, at the first call.
  static struct Element table[kElements] = {
      {"int8", MPI_INT8_T, kSigned, 1, 1, {{0, 1}}},
      {"uint8", MPI_UINT8_T, kUnsigned, 1, 1, {{0, 1}}},
      {"short", MPI_SHORT, kSigned, 2, 2, {{0, 2}}},
      {"uint16", MPI_UINT16_T, kUnsigned, 2, 2, {{0, 2}}},
      {"int", MPI_INT, kSigned, 4, 4, {{0, 4}}},
      {"unsigned", MPI_UNSIGNED, kUnsigned, 4, 4, {{0, 4}}},
      {"int64", MPI_INT64_T, kSigned, 8, 8, {{0, 8}}},
      {"uint64", MPI_UINT64_T, kUnsigned, 8, 8, {{0, 8}}},
      {"bool", MPI_C_BOOL, kLogical, 1, 1, {{0, 1}}},
      {"byte", MPI_BYTE, kBits, 1, 1, {{0, 1}}},
      {"float", MPI_FLOAT, kReal, 4, 4, {{0, 4}}},
      {"double", MPI_DOUBLE, kReal, 8, 8, {{0, 8}}},
      {"long double", MPI_LONG_DOUBLE, kReal, 16, 10, {{0, 10}}},
      {"float complex", MPI_C_FLOAT_COMPLEX, kComplex, 8, 8, {{0, 8}}},
      {"double complex", MPI_C_DOUBLE_COMPLEX, kComplex, 16, 16, {{0, 16}}},
      {"2int", MPI_2INT, kPair, 8, 8, {{0, 4}, {4, 4}}},
      {"double and int", MPI_DOUBLE_INT, kPair, 16, 12, {{0, 8}, {8, 4}}},
      {"int, gap, double", MPI_DATATYPE_NULL, kMixed, 16, 16, {{0, 4}, {8, 8}}},
      {"int behind its double", MPI_DATATYPE_NULL, kMixed, 12, 12, {{8, 4}, {0, 8}}},
  };
  for (int i = kPlainElements; i < kElements && table[i].type == MPI_DATATYPE_NULL; ++i) {
    const int ones[] = {1, 1};
    const MPI_Aint at[] = {table[i].pieces[0][0], table[i].pieces[1][0]};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
    MPI_Datatype made;
    MPI_Type_create_struct(2, ones, at, types, &made);
    MPI_Type_create_resized(made, 0, table[i].extent, &table[i].type);
    MPI_Type_commit(&table[i].type);
    MPI_Type_free(&made);
  }
  return table;
}

static void free_elements(void) {
  for (int i = kPlainElements; i < kElements; ++i) {
    MPI_Datatype type = elements()[i].type;
    MPI_Type_free(&type);
  }
}

static void copy_pieces(const struct Element* to, unsigned char* target, const struct Element* from,
                        const unsigned char* source) {
  for (int i = 0; i < 2; ++i) memcpy(target + to->pieces[i][0], source + from->pieces[i][0], (size_t)to->pieces[i][1]);
}

enum { kSum, kProduct, kMax, kMin, kBand, kBor, kBxor, kLand, kLor, kLxor, kMinloc, kMaxloc, kReplace, kNoOp };
static const char* const kOpNames[] = {"sum",  "product", "max",  "min",    "band",   "bor",     "bxor",
                                       "land", "lor",     "lxor", "minloc", "maxloc", "replace", "no_op"};

static MPI_Op mpi_op(int op) {
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MAX,  MPI_MIN,    MPI_BAND,   MPI_BOR,     MPI_BXOR,
                        MPI_LAND, MPI_LOR,  MPI_LXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
  return ops[op];
}

// Draws a commutative operation that is valid for the element. MPICH 4.0.2 takes unsigned integers for signed ones in
// MPI_MIN and MPI_MAX.
static int draw_op(struct Random* random, const struct Element* element) {
  if (element->family == kUnsigned && !on_margay()) return kBand + below(random, 3);
  static const int first[] = {kSum, kSum, kSum, kSum, kLand, kBand, kMinloc};
  static const int number[] = {10, 10, 4, 2, 3, 3, 2};
  return first[element->family] + below(random, number[element->family]);
}

static uint64_t load_integer(const struct Element* element, const unsigned char* at) {
  uint64_t value = 0;
  memcpy(&value, at, (size_t)element->extent);
  const int unused = 64 - 8 * element->extent;
  return element->family == kSigned ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

static void store_integer(const struct Element* element, unsigned char* at, uint64_t value) {
  memcpy(at, &value, (size_t)element->extent);
}

static uint64_t of_integers(int is_signed, int op, uint64_t a, uint64_t b) {
  const int less = is_signed ? (int64_t)a < (int64_t)b : a < b;
  switch (op) {
    case kSum:
      return a + b;
    case kProduct:
      return a * b;
    case kMax:
      return less ? b : a;
    case kMin:
      return less ? a : b;
    case kBand:
      return a & b;
    case kBor:
      return a | b;
    case kBxor:
      return a ^ b;
    case kLand:
      return a && b;
    case kLor:
      return a || b;
    default:
      return !a != !b;
  }
}

#define REAL_UPDATE(NAME, TYPE, MOVED)                                                              \
  static void update_##NAME(int op, unsigned char* target, const unsigned char* operand) {          \
    TYPE a, b;                                                                                      \
    memcpy(&a, target, sizeof a);                                                                   \
    memcpy(&b, operand, sizeof b);                                                                  \
    a = op == kSum ? a + b : op == kProduct ? a * b : op == kMax ? (a < b ? b : a) : b < a ? b : a; \
    memcpy(target, &a, MOVED);                                                                      \
  }
REAL_UPDATE(float, float, sizeof a)
REAL_UPDATE(double, double, sizeof a)
REAL_UPDATE(long_double, long double, 10)

#define COMPLEX_UPDATE(NAME, TYPE)                                                         \
  static void update_##NAME(int op, unsigned char* target, const unsigned char* operand) { \
    TYPE a, b;                                                                             \
    memcpy(&a, target, sizeof a);                                                          \
    memcpy(&b, operand, sizeof b);                                                         \
    a = op == kSum ? a + b : a * b;                                                        \
    memcpy(target, &a, sizeof a);                                                          \
  }
COMPLEX_UPDATE(float_complex, float complex)
COMPLEX_UPDATE(double_complex, double complex)

static void update_pair(const struct Element* element, int op, unsigned char* target, const unsigned char* operand) {
  double value[2] = {0, 0};
  int index[2];
  const unsigned char* const both[] = {target, operand};
  for (int i = 0; i < 2; ++i) {
    int number = 0;
    memcpy(&index[i], both[i] + element->pieces[1][0], sizeof(int));
    memcpy(&number, both[i], sizeof number);
    value[i] = number;
    if (element->extent == 16) memcpy(&value[i], both[i], sizeof value[i]);
  }
  const int better = op == kMinloc ? value[1] < value[0] : value[1] > value[0];
  if (better || (value[0] == value[1] && index[1] < index[0])) copy_pieces(element, target, element, operand);
}

// The effect of an accumulate on one element.
static void update(const struct Element* element, int op, unsigned char* target, const unsigned char* operand) {
  if (op == kNoOp) return;
  if (op == kReplace) {
    copy_pieces(element, target, element, operand);
  } else if (element->family == kPair) {
    update_pair(element, op, target, operand);
  } else if (element->family == kReal) {
    (element->extent == 4   ? update_float
     : element->extent == 8 ? update_double
                            : update_long_double)(op, target, operand);
  } else if (element->family == kComplex) {
    (element->extent == 8 ? update_float_complex : update_double_complex)(op, target, operand);
  } else {
    const uint64_t a = load_integer(element, target), b = load_integer(element, operand);
    store_integer(element, target, of_integers(element->family == kSigned, op, a, b));
  }
}

// A number for accumulates with `op`. Sums of reals stay small and their products are powers of two: exact in any
// order, and without signed zeros.
static void draw_number(struct Random* random, const struct Element* element, int op, unsigned char* at) {
  const int product = op == kProduct, small = product ? 1 : below(random, 17) - 8;
  const double parts[2] = {product && one_in(random, 2) ? (one_in(random, 2) ? 2 : 0.5) : small,
                           product ? 0 : below(random, 5) - 2};
  const float short_parts[2] = {(float)parts[0], (float)parts[1]};
  const long double wide = parts[0];
  switch (element->family) {
    case kReal:
    case kComplex:
      if (element->family == kReal && element->extent == 16)
        memcpy(at, &wide, 10);
      else if (element->extent == (element->family == kReal ? 4 : 8))
        memcpy(at, short_parts, (size_t)element->extent);
      else
        memcpy(at, parts, (size_t)element->extent);
      break;
    case kLogical:
      *at = (unsigned char)below(random, 2);
      break;
    case kPair: {
      const int number = small, index = below(random, 100);
      memcpy(at, &number, sizeof number);
      if (element->extent == 16) memcpy(at, parts, sizeof parts[0]);
      memcpy(at + element->pieces[1][0], &index, sizeof index);
      break;
    }
    default:
      // Logical operations need zeros too.
      store_integer(element, at, op >= kLand && one_in(random, 3) ? 0 : next(random));
  }
}
