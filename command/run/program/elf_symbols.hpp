// The dynamic symbols of an ELF64 file: those that a program needs and those that a library defines. A file is never
// trusted: every offset, size and count is checked against the file's length before use.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// The contents of the dynamic section and the symbol table.
struct ElfSymbols {
  // False: a script or another kind of file; all other fields are then empty.
  bool is_elf = false;
  // Names of libraries (DT_NEEDED).
  std::vector<std::string> needed;
  // DT_RPATH and DT_RUNPATH unchanged: folders separated by ":".
  std::string rpath;
  std::string runpath;
  // Symbols that other files must define.
  std::vector<std::string> undefined;
  // Weak references, which may remain undefined.
  std::vector<std::string> weak_undefined;
  std::vector<std::string> defined;
  // Only in margay's library: functions that fail with an error because they are not implemented (section
  // margay_refusing).
  std::vector<std::string> refusing;
};

// Parses a file image. Error: a truncated or malformed ELF file, or one of another class or byte order. A file without
// ELF's magic is not an error.
[[nodiscard]] portals::Status read_elf_symbols(std::span<const std::byte> file, ElfSymbols& out);
// The same for a file, which is mapped during the call. Error: also a file that cannot be read.
[[nodiscard]] portals::Status read_elf_symbols(const std::string& path, ElfSymbols& out);

}  // namespace margay::command
