// Functions of the program that MPI stores and calls: reductions, generalized requests, and the callers for functions
// of other languages.
#pragma once

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// The callers through which MPICH's libraries for C++ and Fortran (libmpichcxx.so.12, libmpichfort.so.12) call a
// program's functions: each converts the arguments to its language. The libraries pass them by MPII_Op_set_cxx and
// similar functions; the types are the ABI's.

// Calls a C++ reduction.
using CxxReduction = void (*)(const void* in, void* inout, int count, MPI_Datatype type, MPI_User_function* function);

// Calls a C++ error handler. `kind`: 0 for communicators, 1 for files, 2 for windows.
using CxxErrorHandler = void (*)(int kind, int* handle, int* code, void (*function)());
inline constexpr int kCxxKindCommunicator = 0;

// The kind of an attribute's value, by the language that set it (MPI 4.0, 19.3.7). The numbers are the ABI's.
enum class AttributeKind : int {
  address = 0,  // a pointer, set by C
  word = 1,     // an INTEGER(KIND=MPI_ADDRESS_KIND), set by Fortran's MPI_Comm_set_attr and similar functions
  integer = 3,  // an INTEGER, set by Fortran's MPI_Attr_put; sign-extended to a word
};

// The types of the callers of an attribute key's functions. `value` is the attribute's word, for every kind. `flag` is
// a C++ bool or a Fortran LOGICAL.
using ForeignAttributeCopy = int (*)(MPI_Comm_copy_attr_function* function, int handle, int keyval, void* extra_state,
                                     AttributeKind kind, void* value, void** copy, int* flag);
using ForeignAttributeDelete = int (*)(MPI_Comm_delete_attr_function* function, int handle, int keyval,
                                       AttributeKind kind, void* value, void* extra_state);

// The functions of a generalized request (MPI 4.0, 13.2), and the additional functions of MPICH's extension
// MPIX_Grequest_start.
struct RequestClass {
  MPI_Grequest_query_function* query = nullptr;
  MPI_Grequest_free_function* free = nullptr;
  MPI_Grequest_cancel_function* cancel = nullptr;
  // Both may be nullptr, as for MPI_Grequest_start. They complete requests by MPI_Grequest_complete: poll() does so if
  // the operation is done, wait() always before it returns.
  MPIX_Grequest_poll_function* poll = nullptr;
  MPIX_Grequest_wait_function* wait = nullptr;

  // The functions are Fortran's: every argument is an address, and an additional last argument receives the value that
  // a C function returns.
  bool fortran = false;

  // Call the functions in their language, and return the functions' MPI error codes. Called outside of the process
  // lock.
  [[nodiscard]] int call_query(void* extra_state, MPI_Status* status) const;
  [[nodiscard]] int call_free(void* extra_state) const;
  [[nodiscard]] int call_cancel(void* extra_state, bool complete) const;

  // Whether MPI must call poll() or wait() for the request to complete.
  [[nodiscard]] bool extended() const { return poll != nullptr || wait != nullptr; }
};

// A reduction operation of the program (MPI_Op_create); predefined operations are handles only. MPI_Op_free deletes it,
// or Handles at the end. One of the two functions is set: `function` by MPI_Op_create, `function_c` by MPI_Op_create_c.
struct Operation {
  int handle = 0;
  MPI_User_function* function = nullptr;
  MPI_User_function_c* function_c = nullptr;
  // Whether margay may exchange the operands of two ranks (MPI 4.0, 6.9.5).
  bool commutative = false;
  CxxReduction cxx_caller = nullptr;  // if set, `function` is C++'s, and this calls it
};

}  // namespace margay::mpi_adi
