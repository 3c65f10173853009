// The checks of reduce_ops.c: every operation over one C type, as a function for each type. `term(rank, i)` is rank's
// element i.
#pragma once

#include <complex.h>
#include <stdint.h>

#include "check.h"

enum { kElements = 37 };

struct Op {
  const char* name;
  MPI_Op op;
};

// Small numbers, so that sums and products are exact in every type and in every order.
static inline int term(int rank, int i) {
  return (rank * 3 + i) % 2 + 1 + (i % 5 == rank % 5 ? 1 : 0);
}

#define FOLD_MAX(a, b) ((a) > (b) ? (a) : (b))
#define FOLD_MIN(a, b) ((a) < (b) ? (a) : (b))
#define FOLD_SUM(a, b) ((a) + (b))
#define FOLD_PROD(a, b) ((a) * (b))
#define FOLD_LAND(a, b) ((a) && (b))
#define FOLD_LOR(a, b) ((a) || (b))
#define FOLD_LXOR(a, b) (!(a) != !(b))
#define FOLD_BAND(a, b) ((a) & (b))
#define FOLD_BOR(a, b) ((a) | (b))
#define FOLD_BXOR(a, b) ((a) ^ (b))

// One operation on one type: the expected result is folded here over all ranks' terms, in rank order.
#define CHECK_OP(type, c_type, op, value)                                                                        \
  do {                                                                                                           \
    c_type in[kElements], out[kElements], all[kElements];                                                        \
    const int size = world_size(), rank = world_rank(), root = size / 2;                                         \
    for (int i = 0; i < kElements; ++i) in[i] = (c_type)value(rank, i);                                          \
    memset(out, 0, sizeof out);                                                                                  \
    MPI_Reduce(in, out, kElements, type, MPI_##op, root, MPI_COMM_WORLD);                                        \
    MPI_Allreduce(in, all, kElements, type, MPI_##op, MPI_COMM_WORLD);                                           \
    for (int i = 0; i < kElements; ++i) {                                                                        \
      c_type expected = (c_type)value(0, i);                                                                     \
      for (int r = 1; r < size; ++r) expected = (c_type)FOLD_##op(expected, (c_type)value(r, i));                \
      CHECK(rank != root || out[i] == expected, "MPI_Reduce, MPI_" #op " on " #type ": element %d is wrong", i); \
      CHECK(all[i] == expected, "MPI_Allreduce, MPI_" #op " on " #type ": element %d is wrong", i);              \
    }                                                                                                            \
    ++checked;                                                                                                   \
  } while (0)

// Truth values: zero and several nonzero ones.
static inline int truth(int rank, int i) {
  return (rank + i) % 3 == 0 || i % 7 == 0 ? 0 : 1 + i % 3;
}

#define ARITHMETIC(type, c_type)     \
  CHECK_OP(type, c_type, MAX, term); \
  CHECK_OP(type, c_type, MIN, term); \
  CHECK_OP(type, c_type, SUM, term); \
  CHECK_OP(type, c_type, PROD, term)
#define LOGICAL(type, c_type)          \
  CHECK_OP(type, c_type, LAND, truth); \
  CHECK_OP(type, c_type, LOR, truth);  \
  CHECK_OP(type, c_type, LXOR, truth)
#define BITWISE(type, c_type)         \
  CHECK_OP(type, c_type, BAND, term); \
  CHECK_OP(type, c_type, BOR, term);  \
  CHECK_OP(type, c_type, BXOR, term)

// The groups of MPI 4.0, section 6.9.2.
#define C_INTEGER(type, c_type)    \
  static int reduce_##type(void) { \
    int checked = 0;               \
    ARITHMETIC(type, c_type);      \
    LOGICAL(type, c_type);         \
    BITWISE(type, c_type);         \
    return checked;                \
  }
#define OTHER_INTEGER(type, c_type) \
  static int reduce_##type(void) {  \
    int checked = 0;                \
    ARITHMETIC(type, c_type);       \
    BITWISE(type, c_type);          \
    return checked;                 \
  }
#define FLOATING(type, c_type)     \
  static int reduce_##type(void) { \
    int checked = 0;               \
    ARITHMETIC(type, c_type);      \
    return checked;                \
  }
#define TRUTH(type, c_type)        \
  static int reduce_##type(void) { \
    int checked = 0;               \
    LOGICAL(type, c_type);         \
    return checked;                \
  }
#define BYTES(type, c_type)        \
  static int reduce_##type(void) { \
    int checked = 0;               \
    BITWISE(type, c_type);         \
    return checked;                \
  }
#define COMPLEX_NUMBER(type, c_type)                   \
  static inline c_type value_##type(int rank, int i) { \
    return (c_type)(term(rank, i) + (1 + i % 2) * I);  \
  }                                                    \
  static int reduce_##type(void) {                     \
    int checked = 0;                                   \
    CHECK_OP(type, c_type, SUM, value_##type);         \
    CHECK_OP(type, c_type, PROD, value_##type);        \
    return checked;                                    \
  }

// A pair type: among equal values the lowest index wins, for MAXLOC and MINLOC alike.
#define PAIR(type, c_value)                                                                                         \
  struct pair_##type {                                                                                              \
    c_value value;                                                                                                  \
    int index;                                                                                                      \
  };                                                                                                                \
  static void pair_op_##type(MPI_Op op, int largest) {                                                              \
    struct pair_##type in[kElements], out[kElements];                                                               \
    const int size = world_size(), rank = world_rank();                                                             \
    for (int i = 0; i < kElements; ++i) in[i] = (struct pair_##type){(c_value)term(rank, i), 100 - rank};           \
    MPI_Allreduce(in, out, kElements, type, op, MPI_COMM_WORLD);                                                    \
    for (int i = 0; i < kElements; ++i) {                                                                           \
      int value = term(0, i), index = 100;                                                                          \
      for (int r = 1; r < size; ++r) {                                                                              \
        const int other = term(r, i);                                                                               \
        if (other == value || (largest ? other > value : other < value)) value = other, index = 100 - r;            \
      }                                                                                                             \
      CHECK(out[i].value == (c_value)value && out[i].index == index, #type ": element %d is at %d, expected %d", i, \
            out[i].index, index);                                                                                   \
    }                                                                                                               \
  }                                                                                                                 \
  static int reduce_##type(void) {                                                                                  \
    pair_op_##type(MPI_MAXLOC, 1);                                                                                  \
    pair_op_##type(MPI_MINLOC, 0);                                                                                  \
    return 2;                                                                                                       \
  }
