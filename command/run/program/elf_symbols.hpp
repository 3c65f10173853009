// The dynamic symbols of an ELF64 file: what a program needs and what a library gives. Every offset, size and count in
// the file is checked against the file before it is used; a file is never trusted.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

struct ElfSymbols {
  bool is_elf = false;              // false: a script or some other kind of file; everything else is empty then
  std::vector<std::string> needed;  // names of libraries (DT_NEEDED)
  std::string rpath;                // DT_RPATH and DT_RUNPATH as they stand there: folders with ":" between
  std::string runpath;
  std::vector<std::string> undefined;       // names of symbols that others must give
  std::vector<std::string> weak_undefined;  // those that may stay away
  std::vector<std::string> defined;
  std::vector<std::string> refusing;  // of our library: functions that it has by name only (section margay_refusing)
};

// Error: an ELF file that is cut short, malformed, or of another class or byte order. A file without ELF's magic is no
// error.
[[nodiscard]] portals::Status read_elf_symbols(std::span<const std::byte> file, ElfSymbols& out);
[[nodiscard]] portals::Status read_elf_symbols(const std::string& path, ElfSymbols& out);

}  // namespace margay::command
