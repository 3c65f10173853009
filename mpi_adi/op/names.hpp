// Operations and datatypes as an error's sentence names them.
#pragma once

#include <string>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// "MPI_SUM", "operation 0x98000001", "MPI_OP_NULL".
[[nodiscard]] std::string operation_word(MPI_Op op);
// "MPI_DOUBLE", "datatype 0x8c000007, which the program made".
[[nodiscard]] std::string type_word(MPI_Datatype type);

}  // namespace margay::mpi_adi
