// Which MPI symbols a program needs and the library lacks: said before it runs.
#pragma once

#include <string>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::sim {

struct SymbolCheck {
  bool uses_mpi = false;              // needs a library that margay stands in for, and a symbol of it
  std::size_t needed = 0;             // MPI symbols it needs
  std::vector<std::string> missing;   // those that margay's libraries do not have
  std::vector<std::string> refusing;  // those that they have by name only: a call fails
  std::string other_library;  // it was linked with another MPI's library (libmpi.so.40: Open MPI), whose ABI differs
};

// A program that is no ELF file (a script) uses no MPI by itself. Error: a file that cannot be read.
// `library_folder` holds libmpi.so.12, libmpifort.so.12, libmpicxx.so.12 (those that are there count).
[[nodiscard]] portals::Status check_symbols(const std::string& program, const std::string& library_folder,
                                            SymbolCheck& out);

// Whether a symbol's name is MPI's: MPI_*, PMPI_*, MPIX_*, mpi_*_ and the like.
[[nodiscard]] bool is_mpi_symbol(const std::string& name);

}  // namespace margay::sim
