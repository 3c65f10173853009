// The callers through which MPICH's libraries for C++ and Fortran (libmpichcxx.so.12, libmpichfort.so.12) have a
// program's functions called: each converts the arguments to its language. They arrive through MPII_Op_set_cxx and its
// kin; the types are the ABI's.
#pragma once

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

using CxxReduction = void (*)(const void* in, void* inout, int count, MPI_Datatype type, MPI_User_function* function);

// `kind`: 0 for communicators, 1 for files, 2 for windows.
using CxxErrorHandler = void (*)(int kind, int* handle, int* code, void (*function)());
inline constexpr int kCxxKindCommunicator = 0;

// Kind of an attribute's value, by the language that set it (MPI 4.0, 19.3.7). The numbers are the ABI's.
enum class AttributeKind : int {
  address = 0,  // a pointer, set by C
  word = 1,     // an INTEGER(KIND=MPI_ADDRESS_KIND), set by Fortran's MPI_Comm_set_attr and its like
  integer = 3,  // an INTEGER, set by Fortran's MPI_Attr_put; sign-extended to a word
};

// `value` is the attribute's word, whatever its kind. `flag` is a C++ bool or a Fortran LOGICAL.
using ForeignAttributeCopy = int (*)(MPI_Comm_copy_attr_function* function, int handle, int keyval, void* extra_state,
                                     AttributeKind kind, void* value, void** copy, int* flag);
using ForeignAttributeDelete = int (*)(MPI_Comm_delete_attr_function* function, int handle, int keyval,
                                       AttributeKind kind, void* value, void* extra_state);

}  // namespace margay::mpi_adi
