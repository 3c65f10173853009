// Names that the ABI's library exports beside mpi.h's: what MPICH's own libraries raise errors with, and its interface
// for several tools at once. A program that needs one of the first ends with the sentence, not with the loader's
// complaint. Arguments are not looked at, so none are declared.
#include "mpi/unsupported/unsupported.hpp"

using namespace margay::mpi;

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): a function and its text out of one name.
#define MARGAY_REFUSING_INTERNAL(name)                          \
  extern "C" __attribute__((visibility("default"))) int name(); \
  extern "C" int name() {                                       \
    unsupported_at_all(call_name<#name>);                       \
  }                                                             \
  __attribute__((section("margay_refusing"), used)) static const char name##_name[] = #name;

MARGAY_REFUSING_INTERNAL(MPIR_Err_create_code)
MARGAY_REFUSING_INTERNAL(MPIR_Err_return_comm)
MARGAY_REFUSING_INTERNAL(MPIR_Err_return_win)

// Tools ask for the interface for several of them with these, and go on without it: they get the class, as from MPICH
// built without it.
#pragma GCC visibility push(default)
extern "C" {
int QMPI_Get_calling_address() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
int QMPI_Get_function() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
int QMPI_Get_tool_storage() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
int QMPI_Register_function() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
int QMPI_Register_tool_name() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
int QMPI_Register_tool_storage() {
  return MPI_ERR_UNSUPPORTED_OPERATION;
}
}
#pragma GCC visibility pop
