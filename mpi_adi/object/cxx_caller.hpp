// How MPICH's C++ library (libmpichcxx.so.12) has the functions of C++ programs called: a function of its own makes C++
// objects of the handles and passes them on. It sets them through MPII_Op_set_cxx and its kin; the types are the ABI's.
#pragma once

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

using CxxReduction = void (*)(const void* in, void* inout, int count, MPI_Datatype type, MPI_User_function* function);

// `kind`: 0 for communicators, 1 for files, 2 for windows.
using CxxErrorHandler = void (*)(int kind, int* handle, int* code, void (*function)());
inline constexpr int kCxxKindCommunicator = 0;

// `type`: 0 for a pointer; the ABI's others are Fortran's. `flag` is a C++ bool.
inline constexpr int kCxxPointer = 0;
using CxxAttributeCopy = int (*)(MPI_Comm_copy_attr_function* function, int handle, int keyval, void* extra_state,
                                 int type, void* value, void** copy, int* flag);
using CxxAttributeDelete = int (*)(MPI_Comm_delete_attr_function* function, int handle, int keyval, int type,
                                   void* value, void* extra_state);

}  // namespace margay::mpi_adi
