// MPI_X as a weak alias of PMPI_X (MPI standard, chapter on profiling), for each binding in a file:
//
//   extern "C" int PMPI_X(...) { ... }
//   MARGAY_ALIAS(X)
//
// MARGAY_ALIAS_MPIX for MPICH's extensions: MPIX_X and PMPIX_X. MARGAY_EXPORT before a function that mpi.h does not
// declare: what MPICH's libraries for C++ and Fortran call beside it.
#pragma once

#pragma GCC visibility push(default)
#include "mpi_adi/abi/mpi.h"
#pragma GCC visibility pop

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): two names made of one.
#define MARGAY_ALIAS(name) \
  extern "C" __attribute__((weak, visibility("default"), alias("PMPI_" #name))) decltype(PMPI_##name) MPI_##name;
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): as above.
#define MARGAY_ALIAS_MPIX(name) \
  extern "C" __attribute__((weak, visibility("default"), alias("PMPIX_" #name))) decltype(PMPIX_##name) MPIX_##name;
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a linkage and a visibility.
#define MARGAY_EXPORT extern "C" __attribute__((visibility("default")))
