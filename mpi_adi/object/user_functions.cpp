#include "mpi_adi/object/user_functions.hpp"

namespace margay::mpi_adi {

namespace {

// Calls the Fortran subroutine whose address was passed as a C function.
template <typename Function, typename... Arguments>
int call_fortran(Function* function, Arguments*... arguments) {
  using Subroutine = void (*)(Arguments * ..., MPI_Fint*);
  MPI_Fint error = MPI_SUCCESS;
  reinterpret_cast<Subroutine>(reinterpret_cast<void (*)()>(function))(arguments..., &error);
  return error;
}

}  // namespace

// A status has the same five words in both languages, so it needs no conversion.
int RequestClass::call_query(void* extra_state, MPI_Status* status) const {
  return fortran ? call_fortran(query, extra_state, status) : query(extra_state, status);
}

int RequestClass::call_free(void* extra_state) const {
  return fortran ? call_fortran(free, extra_state) : free(extra_state);
}

int RequestClass::call_cancel(void* extra_state, bool complete) const {
  // A LOGICAL for Fortran, which takes its address, or an int for C.
  MPI_Fint flag = complete ? 1 : 0;
  return fortran ? call_fortran(cancel, extra_state, &flag) : cancel(extra_state, flag);
}

}  // namespace margay::mpi_adi
