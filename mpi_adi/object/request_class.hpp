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

  // The functions are Fortran's: every argument is an address, and the last one takes what a function of C returns.
  bool fortran = false;

  [[nodiscard]] int call_query(void* extra_state, MPI_Status* status) const;
  [[nodiscard]] int call_free(void* extra_state) const;
  [[nodiscard]] int call_cancel(void* extra_state, bool complete) const;

  // Somebody must call its functions, or it never completes.
  [[nodiscard]] bool extended() const { return poll != nullptr || wait != nullptr; }
};

}  // namespace margay::mpi_adi
