// The program's functions of a generalized request (MPI 4.0, 13.2), and those of MPICH's extension:
// MPIX_Grequest_start.
#pragma once

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

struct RequestClass {
  MPI_Grequest_query_function* query = nullptr;
  MPI_Grequest_free_function* free = nullptr;
  MPI_Grequest_cancel_function* cancel = nullptr;
  // Both may be null, as they are of MPI_Grequest_start. They complete a request by MPI_Grequest_complete: the one if
  // it has come so far, the other when it returns.
  MPIX_Grequest_poll_function* poll = nullptr;
  MPIX_Grequest_wait_function* wait = nullptr;

  // Somebody must call its functions, or it never completes.
  [[nodiscard]] bool extended() const { return poll != nullptr || wait != nullptr; }
};

}  // namespace margay::mpi_adi
