// Tests of every predefined operation on every predefined datatype for which it is defined, by Reduce and Allreduce.
// ranks: 1 2 3 6
// reference: 3

// Hundreds of functions that run once: optimised they take 4 s to compile, three times in the tests.
#pragma GCC optimize("O0")
#include "reduce_ops.h"

// Created for Fortran's kinds, but predefined (MPI 4.0, 19.1.5).
static MPI_Datatype f90_integer, f90_real, f90_complex;

C_INTEGER(MPI_CHAR, signed char)  // these two are MPICH's, not the standard's
C_INTEGER(MPI_CHARACTER, signed char)
C_INTEGER(MPI_SIGNED_CHAR, signed char)
C_INTEGER(MPI_UNSIGNED_CHAR, unsigned char)
C_INTEGER(MPI_SHORT, short)
C_INTEGER(MPI_UNSIGNED_SHORT, unsigned short)
C_INTEGER(MPI_INT, int)
C_INTEGER(MPI_UNSIGNED, unsigned)
C_INTEGER(MPI_LONG, long)
C_INTEGER(MPI_UNSIGNED_LONG, unsigned long)
C_INTEGER(MPI_LONG_LONG, long long)
C_INTEGER(MPI_UNSIGNED_LONG_LONG, unsigned long long)
C_INTEGER(MPI_INT8_T, int8_t)
C_INTEGER(MPI_INT16_T, int16_t)
C_INTEGER(MPI_INT32_T, int32_t)
C_INTEGER(MPI_INT64_T, int64_t)
C_INTEGER(MPI_UINT8_T, uint8_t)
C_INTEGER(MPI_UINT16_T, uint16_t)
C_INTEGER(MPI_UINT32_T, uint32_t)
C_INTEGER(MPI_UINT64_T, uint64_t)
OTHER_INTEGER(MPI_INTEGER, int)
OTHER_INTEGER(MPI_AINT, MPI_Aint)
OTHER_INTEGER(MPI_OFFSET, MPI_Offset)
OTHER_INTEGER(MPI_COUNT, MPI_Count)
OTHER_INTEGER(f90_integer, int)
FLOATING(f90_real, double)
COMPLEX_NUMBER(f90_complex, double _Complex)
FLOATING(MPI_FLOAT, float)
FLOATING(MPI_DOUBLE, double)
FLOATING(MPI_LONG_DOUBLE, long double)
FLOATING(MPI_REAL, float)
FLOATING(MPI_DOUBLE_PRECISION, double)
TRUTH(MPI_C_BOOL, _Bool)
TRUTH(MPI_LOGICAL, int)
TRUTH(MPI_CXX_BOOL, _Bool)
BYTES(MPI_BYTE, unsigned char)
COMPLEX_NUMBER(MPI_C_COMPLEX, float _Complex)
COMPLEX_NUMBER(MPI_C_FLOAT_COMPLEX, float _Complex)
COMPLEX_NUMBER(MPI_C_DOUBLE_COMPLEX, double _Complex)
COMPLEX_NUMBER(MPI_C_LONG_DOUBLE_COMPLEX, long double _Complex)
COMPLEX_NUMBER(MPI_COMPLEX, float _Complex)
COMPLEX_NUMBER(MPI_DOUBLE_COMPLEX, double _Complex)
PAIR(MPI_FLOAT_INT, float)
PAIR(MPI_DOUBLE_INT, double)
PAIR(MPI_LONG_INT, long)
PAIR(MPI_2INT, int)
PAIR(MPI_SHORT_INT, short)
PAIR(MPI_LONG_DOUBLE_INT, long double)

#define ROW(type) \
  { #type, reduce_##type }
static const struct {
  const char* name;
  int (*reduce)(void);
} kTypes[] = {ROW(MPI_CHAR),
              ROW(MPI_CHARACTER),
              ROW(MPI_SIGNED_CHAR),
              ROW(MPI_UNSIGNED_CHAR),
              ROW(MPI_SHORT),
              ROW(MPI_UNSIGNED_SHORT),
              ROW(MPI_INT),
              ROW(MPI_UNSIGNED),
              ROW(MPI_LONG),
              ROW(MPI_UNSIGNED_LONG),
              ROW(MPI_LONG_LONG),
              ROW(MPI_UNSIGNED_LONG_LONG),
              ROW(MPI_INT8_T),
              ROW(MPI_INT16_T),
              ROW(MPI_INT32_T),
              ROW(MPI_INT64_T),
              ROW(MPI_UINT8_T),
              ROW(MPI_UINT16_T),
              ROW(MPI_UINT32_T),
              ROW(MPI_UINT64_T),
              ROW(MPI_INTEGER),
              ROW(MPI_AINT),
              ROW(MPI_OFFSET),
              ROW(MPI_COUNT),
              ROW(MPI_FLOAT),
              ROW(MPI_DOUBLE),
              ROW(MPI_LONG_DOUBLE),
              ROW(MPI_REAL),
              ROW(MPI_DOUBLE_PRECISION),
              ROW(MPI_C_BOOL),
              ROW(MPI_LOGICAL),
              ROW(MPI_CXX_BOOL),
              ROW(MPI_BYTE),
              ROW(MPI_C_COMPLEX),
              ROW(MPI_C_FLOAT_COMPLEX),
              ROW(MPI_C_DOUBLE_COMPLEX),
              ROW(MPI_C_LONG_DOUBLE_COMPLEX),
              ROW(MPI_COMPLEX),
              ROW(MPI_DOUBLE_COMPLEX),
              ROW(MPI_FLOAT_INT),
              ROW(MPI_DOUBLE_INT),
              ROW(MPI_LONG_INT),
              ROW(MPI_2INT),
              ROW(MPI_SHORT_INT),
              ROW(MPI_LONG_DOUBLE_INT),
              ROW(f90_integer),
              ROW(f90_real),
              ROW(f90_complex)};

int main(int argc, char** argv) {
  suite_begin(&argc, &argv);
  MPI_Type_create_f90_integer(9, &f90_integer);
  MPI_Type_create_f90_real(15, 307, &f90_real);
  MPI_Type_create_f90_complex(15, 307, &f90_complex);
  for (size_t i = 0; i < sizeof kTypes / sizeof kTypes[0]; ++i) {
    const int operations = kTypes[i].reduce();
    if (world_rank() == 0) printf("%s: %d operations\n", kTypes[i].name, operations);
  }
  return suite_end("reduce_ops");
}
