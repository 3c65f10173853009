// Which MPI symbols a program and its shared libraries need and margay's library lacks: said before it runs.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// A symbol or a library, and the library that needs it.
struct Need {
  std::string name;
  std::string file;  // empty: the program itself

  friend bool operator<(const Need& a, const Need& b) { return std::tie(a.file, a.name) < std::tie(b.file, b.name); }
};

struct SymbolCheck {
  bool uses_mpi = false;        // a file needs a library that margay stands in for, and a symbol of it is needed
  std::size_t needed = 0;       // MPI symbols that are needed, each counted once
  std::vector<Need> missing;    // those that neither margay's library has nor another of the program's files
  std::vector<Need> refusing;   // those that margay has by name only: a call fails
  std::vector<Need> not_found;  // libraries that the loader will not find
  std::vector<Need> other_mpi;  // libraries of another MPI (libmpi.so.40: Open MPI), whose ABI differs
};

// Looks at the program and at the shared libraries that the loader would give it with this LD_LIBRARY_PATH, but for
// libmpi.so.12 (libmpich.so.12): that one is `library_folder`'s. MPI's libraries for C++ and Fortran are looked at as
// any other; in them a function that refuses counts where the program needs its name in their language.
// A program that is no ELF file (a script) uses no MPI by itself. Error: a file that cannot be read, a malformed one.
[[nodiscard]] portals::Status check_symbols(const std::string& program, const std::string& library_folder,
                                            const std::string& library_path, SymbolCheck& out);

// Whether a symbol's name is MPI's: MPI_*, PMPI_*, MPIX_*, mpi_*_ and the like.
[[nodiscard]] bool is_mpi_symbol(const std::string& name);

// "MPI_Put", "MPI_Put in /usr/lib/libuse.so".
[[nodiscard]] std::string describe_need(const Need& need);

}  // namespace margay::command
