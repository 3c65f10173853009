// A reduction operation that the program made (MPI_Op_create); the predefined ones are handles only.
#pragma once

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/object/foreign_caller.hpp"

namespace margay::mpi_adi {

// Passive. One of the two functions is set: MPI_Op_create's, or MPI_Op_create_c's.
struct Operation {
  int handle = 0;
  MPI_User_function* function = nullptr;
  MPI_User_function_c* function_c = nullptr;
  bool commutative = false;
  CxxReduction cxx_caller = nullptr;  // `function` is C++'s: called by this
};

}  // namespace margay::mpi_adi
