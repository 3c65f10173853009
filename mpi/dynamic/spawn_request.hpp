// The program's request for further processes (MPI_Comm_spawn), as the launcher gets it.
#pragma once

#include <string>

#include "mpi/call/call.hpp"
#include "sim/boot/pmi_client.hpp"

namespace margay::mpi {

// The arguments of one command; those of MPI_Comm_spawn, or one element of each array of MPI_Comm_spawn_multiple.
struct SpawnArguments {
  const char* command = nullptr;
  // Ends with a null pointer; MPI_ARGV_NULL: none.
  char* const* argv = nullptr;
  int processes = 0;
  MPI_Info info = MPI_INFO_NULL;
};

// Adds a command to the request, after a check of its arguments (MPI_ERR_ARG, MPI_ERR_INFO).
void add_command(Call& call, const SpawnArguments& arguments, sim::SpawnLines& request);

// Why this process cannot request others; empty: it can.
[[nodiscard]] std::string why_no_spawn(const sim::Job& job);

}  // namespace margay::mpi
