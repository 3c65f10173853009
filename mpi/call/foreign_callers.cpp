// Entry points for MPICH's libraries for C++ and Fortran. When such a library has made an object from a function of the
// program, it passes a function of its own to an entry point here. margay then calls the program's function through the
// library's. (Fortran's error handlers and reductions are called as those of C, so they have no entry point.)
#include <mutex>

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi_adi/rank/object_tables.hpp"
#include "mpi_adi/request/generalized.hpp"

using namespace margay::mpi;

MARGAY_EXPORT void MPII_Op_set_cxx(MPI_Op op, CxxReduction caller) {
  Call call(call_name<"MPII_Op_set_cxx">);
  margay::mpi_adi::Operation* const operation = call.rank().handles().operations().find(op);
  if (operation != nullptr) operation->cxx_caller = caller;
}

MARGAY_EXPORT void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, CxxErrorHandler caller) {
  // No Call: C++ programs make handlers before MPI_Init, too.
  const ErrorHandlerPtr handler = process_error_handlers().find(errhandler);
  if (handler != nullptr) handler->cxx_caller = caller;
}

MARGAY_EXPORT void MPII_Keyval_set_proxy(int keyval, ForeignAttributeCopy copy, ForeignAttributeDelete delete_value) {
  Call call(call_name<"MPII_Keyval_set_proxy">);
  const KeyvalPtr found = call.rank().tables().keyvals.find(keyval);
  if (found == nullptr) return;
  found->foreign_copy = copy;
  found->foreign_delete = delete_value;
}

MARGAY_EXPORT void MPII_Grequest_set_lang_f77(MPI_Request request) {
  Call call(call_name<"MPII_Grequest_set_lang_f77">);
  UserRequest* const found = call.rank().handles().request(request);
  GeneralizedRequest* const generalized = found == nullptr ? nullptr : generalized_of(found->device);
  if (generalized != nullptr) generalized->set_fortran();
}
