// The ABI's data symbols, and its only predefined callback. Programs compare and pass the addresses or values of the
// symbols; no code reads the objects to which they point. (Only `mpichversion` reads the version strings.) The ABI
// requires them, so they are an exception to the rule that mpi_adi has no mutable globals (mpi_adi/rank/current.hpp).
#include "mpi_adi/abi/mpi.h"

extern "C" {

namespace {
int unweighted_mark;
int weights_empty_mark;
int all_handles_mark;
}  // namespace

extern int* const MPI_UNWEIGHTED = &unweighted_mark;
extern int* const MPI_WEIGHTS_EMPTY = &weights_empty_mark;
// Not declared in mpi.h, so exported here.
#pragma GCC visibility push(default)
int* MPIR_C_MPI_UNWEIGHTED = nullptr;
int* MPIR_C_MPI_WEIGHTS_EMPTY = nullptr;

// Printed by `mpichversion`; the first is the ABI's number (current:revision:age).
extern const char MPII_Version_ABI[] = "14:2:2";
extern const char MPII_Version_string[] = MPICH_VERSION;
extern const char MPII_Version_date[] = "";
extern const char MPII_Version_device[] = "margay (emulated portals)";
extern const char MPII_Version_configure[] = "";
extern const char MPII_Version_CC[] = "cc";
extern const char MPII_Version_CXX[] = "c++";
extern const char MPII_Version_F77[] = "";
extern const char MPII_Version_FC[] = "";
extern const char MPII_Version_custom[] = "";
#pragma GCC visibility pop

// A Fortran runtime points these to its own constants at its start; a C program only passes them on.
MPI_Fint* MPI_F_STATUS_IGNORE = nullptr;
MPI_Fint* MPI_F_STATUSES_IGNORE = nullptr;

MPI_F08_status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_F08_status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];
int MPIR_F08_MPI_IN_PLACE;
int MPIR_F08_MPI_BOTTOM;
MPI_F08_status* MPI_F08_STATUS_IGNORE = &MPIR_F08_MPI_STATUS_IGNORE_OBJ;
MPI_F08_status* MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;

extern struct MPIR_T_pvar_handle_s* const MPI_T_PVAR_ALL_HANDLES =
    reinterpret_cast<struct MPIR_T_pvar_handle_s*>(&all_handles_mark);

int MPIR_Dup_fn(MPI_Comm, int, void*, void* value_in, void* value_out, int* flag) {
  // The caller passes the address of a pointer, into which the new value goes.
  *static_cast<void**>(value_out) = value_in;
  *flag = 1;
  return MPI_SUCCESS;
}

}  // extern "C"

namespace {

// The Fortran module mpi_f08 passes these two variables where a program uses the module's constants MPI_UNWEIGHTED and
// MPI_WEIGHTS_EMPTY. In a Fortran program they are the variables of libmpichfort.so.12. No other code sets them, and
// they exist before this library's constructors run.
__attribute__((constructor)) void set_fortran_2008_weights() {
  MPIR_C_MPI_UNWEIGHTED = MPI_UNWEIGHTED;
  MPIR_C_MPI_WEIGHTS_EMPTY = MPI_WEIGHTS_EMPTY;
}

}  // namespace
