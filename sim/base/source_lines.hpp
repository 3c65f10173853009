// Names of locations in the program, for reports: "ring.c:41" where there is debug information, otherwise "ring+0x1234"
// (file and offset). The command reads debug information in a process of its own (`margay source-lines`), and only when
// something is reported, so a correct program pays nothing.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "sim/base/loaded_module.hpp"

namespace margay::sim {

// An address in one of the program's files, in a form that is valid in every process that has loaded the file. It is
// sent in messages of checks.
struct SourceLocation {
  // build_number() of the file; 0: unknown.
  std::uint64_t build = 0;
  // Offset from the file's first byte in memory.
  std::uint64_t offset = 0;
};

// The location of an address; build 0 when it is in no file. The second form uses a cache.
[[nodiscard]] SourceLocation source_location(const void* address);
[[nodiscard]] SourceLocation source_location(const void* address, LoadedModules& modules);

// The return address of the calling thread's innermost call into this library from the program, that is, from a file
// that is neither this library nor its Fortran bindings. Walks the stack, so it is for errors and long waits. nullptr:
// unknown, for example because the library is part of the program's own file.
[[nodiscard]] const void* call_from_program();

// The call that call_from_program() finds, with the called function's name in the dynamic symbol table.
struct ProgramCall {
  const void* returns_to = nullptr;
  // Empty: unknown.
  std::string function;
};
[[nodiscard]] ProgramCall function_called_by_program();

// The question to `margay source-lines` and to the launcher: "BUILDID OFFSET PATH". Empty: the address is in no file.
[[nodiscard]] std::string source_question(const void* address);

// The names of locations for one process, with a cache of the names that the command has found. Any thread may use it.
class SourceLines {
 public:
  // The return address of the program's call in progress in the calling thread. `caller`: the return address of the
  // call into this library. Returns `caller`, unless it lies in the Fortran bindings: then walks the stack to the
  // Fortran program's call.
  [[nodiscard]] const void* skip_bindings(const void* caller);
  // Looks up many locations by one start of the command. Later lookups of these locations do not start it.
  void look_up(std::span<const SourceLocation> locations);
  // "ring.c:41", "ring+0x1234"; empty: unknown. The first lookup of a location starts the command.
  [[nodiscard]] std::string name(SourceLocation location);
  [[nodiscard]] std::string name(const void* address) { return name(source_location(address)); }
  // The name as reports print it after a call: " (ring.c:41)"; empty: unknown.
  [[nodiscard]] std::string location_suffix(SourceLocation location);
  [[nodiscard]] std::string location_suffix(const void* address) { return location_suffix(source_location(address)); }
  // The same, but empty if another lookup takes longer than a tenth of a second. For a signal handler, which may have
  // interrupted that lookup.
  [[nodiscard]] std::string location_suffix_soon(const void* address);

 private:
  // Requires: the caller holds mutex_.
  [[nodiscard]] std::string name_with_lock(SourceLocation location);
  // Requires: the caller holds mutex_.
  void look_up_with_lock(std::span<const SourceLocation> locations);

  // Guards modules_ alone, so that skip_bindings() never waits for a lookup of names.
  std::mutex modules_mutex_;
  LoadedModules modules_;
  // Guards known_; held while the command runs, so that two threads do not start it for the same names.
  std::mutex mutex_;
  // By build and offset: the names that have been found; empty: unknown.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> known_;
};

}  // namespace margay::sim
