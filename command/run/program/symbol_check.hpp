// A check of the MPI symbols that a program and its shared libraries need and margay's library lacks, made before the
// program runs.
#pragma once

#include <cstddef>
#include <string>
#include <tuple>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// A needed symbol or library, and the file that needs it.
struct Need {
  std::string name;
  // Empty: the program itself.
  std::string file;

  friend bool operator<(const Need& a, const Need& b) { return std::tie(a.file, a.name) < std::tie(b.file, b.name); }
};

// The result of a check.
struct SymbolCheck {
  // A file needs a library that margay replaces, and an MPI symbol is needed.
  bool uses_mpi = false;
  // Number of distinct MPI symbols that are needed.
  std::size_t needed = 0;
  // Defined neither by margay's library nor by any of the program's files.
  std::vector<Need> missing;
  // Defined by margay but not implemented: a call fails.
  std::vector<Need> refusing;
  // Libraries that the loader will not find.
  std::vector<Need> not_found;
  // Libraries of another MPI (libmpi.so.40: Open MPI), whose ABI differs.
  std::vector<Need> other_mpi;
};

// Examines the program and the shared libraries that the loader would give it with this LD_LIBRARY_PATH; libmpi.so.12
// (libmpich.so.12) is taken from `library_folder`. The libraries of MPI's C++ and Fortran bindings are examined like
// any other, but their own references to unimplemented functions do not count, because a binding refers to all
// functions. A reference by the program to such a function counts, by its C or its Fortran name. A program that is not
// an ELF file (a script) counts as using no MPI. Error: a file that cannot be read, or is malformed.
[[nodiscard]] portals::Status check_symbols(const std::string& program, const std::string& library_folder,
                                            const std::string& library_path, SymbolCheck& out);

// Whether a symbol's name belongs to MPI: MPI_*, PMPI_*, MPIX_*, mpi_*_ and similar.
[[nodiscard]] bool is_mpi_symbol(const std::string& name);

// "MPI_Put", "MPI_Put in /usr/lib/libuse.so".
[[nodiscard]] std::string describe_need(const Need& need);

}  // namespace margay::command
