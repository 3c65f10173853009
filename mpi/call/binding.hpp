// Macros for the bindings of MPI's C functions: PMPI_X, and MPI_X as its weak alias (MPI standard, chapter on
// profiling). A function without a twin is written out:
//
//   extern "C" int PMPI_X(...) { ... }
//   MARGAY_ALIAS(X)
//
// Most functions with counts have a twin for large ones, MPI_X_c, which differs only in the types of parameters (MPI
// 4.0, 2.5.6). One macro makes both:
//
//   MARGAY_TWINS(Recv, (void* buf, Count count, ..., MPI_Status* status), {
//     return blocking_receive(called, {buf, count, ...}, status);
//   })
//
// `called` is the function's name, "MPI_Recv" or "MPI_Recv_c". Types that differ between the twins are written as
// Count, Displacement and Address, which int_counts and large_counts define below. Families with more forms have macros
// that use MARGAY_TWINS:
//
//   MARGAY_COLLECTIVE  MPI_Bcast, MPI_Ibcast, MPI_Bcast_init  mpi/collective/request_call.hpp
//   MARGAY_SEND        MPI_Send, MPI_Isend, MPI_Send_init     mpi/point_to_point/send.cpp
//   MARGAY_ACCESS      MPI_Put, MPI_Rput                      mpi/one_sided/access_call.hpp
//
// scripts/coverage and cmake/margay_layer.cmake find the bindings by the names of these macros.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "mpi/call/call_name.hpp"
#include "mpi_adi/abi/mpi.h"

// Conversion of a number to the integer type that a binding returns.

namespace margay::mpi {

// `value`, or MPI_UNDEFINED if it does not fit: "If the value cannot be expressed by the integer, MPI_UNDEFINED" (MPI
// 4.0, 3.2.5, 5.1.5, 5.2).
template <typename Integer>
[[nodiscard]] constexpr Integer bounded(std::uint64_t value) {
  return value <= static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()) ? static_cast<Integer>(value)
                                                                                  : Integer{MPI_UNDEFINED};
}

}  // namespace margay::mpi

// Defines MPI_X as a weak alias of PMPI_X. A profiling library that defines MPI_X itself thus replaces it at link time
// (MPI 4.0, 15.2).
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): two names made of one.
#define MARGAY_ALIAS(name) \
  extern "C" __attribute__((weak, visibility("default"), alias("PMPI_" #name))) decltype(PMPI_##name) MPI_##name;
// The same for MPICH's extensions, MPIX_X and PMPIX_X.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): as above.
#define MARGAY_ALIAS_MPIX(name) \
  extern "C" __attribute__((weak, visibility("default"), alias("PMPIX_" #name))) decltype(PMPIX_##name) MPIX_##name;
// Precedes a function that mpi.h does not declare, but MPICH's libraries for C++ and Fortran call.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a linkage and a visibility.
#define MARGAY_EXPORT extern "C" __attribute__((visibility("default")))

// The types of parameters that differ between twins. The namespaces select only these types: a function with C linkage
// is the same function in every namespace.
namespace int_counts {
using Count = int;
using Displacement = int;  // displacement of a block, or a window's displacement unit
using Address = MPI_Aint;  // displacement, extent or size in bytes
}  // namespace int_counts
namespace large_counts {
using Count = MPI_Count;
using Displacement = MPI_Aint;
using Address = MPI_Count;
}  // namespace large_counts

// MPI_X and MPI_X_c; the last argument is the body. NOLINTNEXTLINE(cppcoreguidelines-macro-usage): names made of one.
#define MARGAY_TWINS(name, parameters, ...)              \
  MARGAY_TWIN(int_counts, name, parameters, __VA_ARGS__) \
  MARGAY_TWIN(large_counts, name##_c, parameters, __VA_ARGS__)
// Defines one of the twins. The static_assert compares the parameters with those of mpi.h: C linkage ignores namespaces
// and parameters, so a binding with other types would link, too.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): as above.
#define MARGAY_TWIN(types, name, parameters, ...)                                \
  namespace types {                                                              \
  MARGAY_EXPORT int PMPI_##name parameters {                                     \
    constexpr const auto& called = margay::mpi::call_name<"MPI_" #name>;         \
    __VA_ARGS__                                                                  \
  }                                                                              \
  static_assert(std::is_same_v<decltype(PMPI_##name), decltype(::PMPI_##name)>); \
  MARGAY_ALIAS(name)                                                             \
  }
// `MARGAY_LIST parameters` expands to the list without its parentheses, so that a macro can add parameters.
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): as above.
#define MARGAY_LIST(...) __VA_ARGS__
