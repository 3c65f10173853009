// Reports, for --check-types, uses that margay and MPICH take and that the standard does not define.
#pragma once

#include "mpi/call/call.hpp"

namespace margay::mpi {

void report_nonportable(TypeCheck& check, MPI_Op op, MPI_Datatype type);

// The call applies `op` to elements of `type`. Requires: predefined_combine() has the two, or the operation is
// MPI_REPLACE or MPI_NO_OP.
inline void note_operation(Call& call, MPI_Op op, MPI_Datatype type) {
  if (TypeCheck* const check = call.device().type_check(); check != nullptr) [[unlikely]]
    report_nonportable(*check, op, type);
}

}  // namespace margay::mpi
