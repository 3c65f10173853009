// What MPICH's C++ library calls beside the functions of mpi.h, after it made an object of a C++ function: how that is
// to be called from now on.
#include <mutex>

#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/call.hpp"
#include "mpi_adi/mpi/early_call.hpp"

using namespace margay::mpi_adi;

#define MARGAY_EXPORT extern "C" __attribute__((visibility("default")))

MARGAY_EXPORT void MPII_Op_set_cxx(MPI_Op op, CxxReduction caller) {
  Call call(call_name<"MPII_Op_set_cxx">);
  Operation* const operation = call.rank().handles().operations().find(op);
  if (operation != nullptr) operation->cxx_caller = caller;
}

MARGAY_EXPORT void MPII_Errhandler_set_cxx(MPI_Errhandler errhandler, CxxErrorHandler caller) {
  const ErrorHandlerPtr handler = process_error_handlers().find(errhandler);
  if (handler != nullptr) handler->cxx_caller = caller;
}

MARGAY_EXPORT void MPII_Keyval_set_proxy(int keyval, CxxAttributeCopy copy, CxxAttributeDelete delete_value) {
  Call call(call_name<"MPII_Keyval_set_proxy">);
  const KeyvalPtr found = call.rank().tables().keyvals.find(keyval);
  if (found == nullptr) return;
  found->cxx_copy = copy;
  found->cxx_delete = delete_value;
}
