// The arguments of a send and of a receive as the program gave them.
#pragma once

#include <cstdint>

#include "mpi/layers.hpp"
#include "mpi_adi/abi/mpi.h"

namespace margay::mpi {

struct SendArguments {
  const void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
  int destination;
  int tag;
  MPI_Comm communicator;
};

struct ReceiveArguments {
  void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
  int source;
  int tag;
  MPI_Comm communicator;
};

}  // namespace margay::mpi
