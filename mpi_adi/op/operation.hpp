// The predefined reduction operations on the types for which they are defined (MPI 4.0, 6.9.2 and 6.9.4). Pure; any
// thread may call.
#pragma once

#include <cstddef>
#include <string>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// A loop over elements, which sets inout[i] to in[i] op inout[i] for `count` elements in their layout in memory. Both
// arrays must be aligned for their type, and must not overlap.
using Combine = void (*)(const void* in, void* inout, std::size_t count);

// The loop of an operation on a type; nullptr if the operation is not predefined, or not defined on the type
// (MPI_ERR_OP).
[[nodiscard]] Combine predefined_combine(MPI_Op op, MPI_Datatype type);
// Whether margay and MPICH support the combination although the standard's table (6.9.2) lacks it: MPI_LAND, MPI_LOR
// and MPI_LXOR on reals, where 0 is false and the result is 0 or 1. Requires: predefined_combine() has it.
[[nodiscard]] bool is_nonportable(MPI_Op op, MPI_Datatype type);

// Names of operations and datatypes in error messages.

// "MPI_SUM", "operation 0x98000001", "MPI_OP_NULL".
[[nodiscard]] std::string operation_text(MPI_Op op);
// "MPI_DOUBLE", "datatype 0x8c000007, which the program made".
[[nodiscard]] std::string type_text(MPI_Datatype type);

}  // namespace margay::mpi_adi
