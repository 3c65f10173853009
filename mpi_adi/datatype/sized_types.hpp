// Predefined types by size, and by what a Fortran program asks of a kind's precision and range (MPI 4.0, 19.1.9).
#pragma once

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// MPI_DATATYPE_NULL: there is no such type. `type_class`: MPI_TYPECLASS_REAL, _INTEGER or _COMPLEX; `size` in bytes.
[[nodiscard]] MPI_Datatype type_of_size(int type_class, int size);

// The smallest type with `digits` decimal digits and a decimal exponent range of `range`, as the processor's Fortran
// compilers choose it; MPI_UNDEFINED asks for nothing. MPI_DATATYPE_NULL: none is large enough.
[[nodiscard]] MPI_Datatype real_of(int digits, int range);
[[nodiscard]] MPI_Datatype complex_of(int digits, int range);
[[nodiscard]] MPI_Datatype integer_of(int range);

}  // namespace margay::mpi_adi
