// Names places in the program for reports: "ring.c:41" where there is debug information, "ring+0x1234" (file and
// offset) otherwise. Debug information is read by the command, in a process of its own (`margay source-lines`), and
// only when something is reported: a program that is right pays nothing.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "sim/base/loaded_module.hpp"

namespace margay::sim {

// An address in one of the program's files, as it means the same in every process that has loaded that file. It travels
// in the messages of checks.
struct SourcePlace {
  std::uint64_t build = 0;   // build_number() of the file; 0: not known
  std::uint64_t offset = 0;  // from the file's first byte in memory
};

[[nodiscard]] SourcePlace source_place(const void* address);
[[nodiscard]] SourcePlace source_place(const void* address, LoadedModules& modules);

// Where the calling thread left the program for this library: the return address of the innermost call from a file that
// is neither this library nor the Fortran bindings on it. It walks the stack: for errors and long waits. nullptr: not
// known, as where this library is part of the program itself.
[[nodiscard]] const void* call_from_program();

// The same call, with the function's name as the linker knows it.
struct ProgramCall {
  const void* returns_to = nullptr;
  std::string function;  // empty: not known
};
[[nodiscard]] ProgramCall function_called_by_program();

// What `margay source-lines` and the launcher are asked: "BUILDID OFFSET PATH". Empty: in no file.
[[nodiscard]] std::string source_question(const void* address);

// Any thread.
class SourceLines {
 public:
  // Where the program made the call of the calling thread that returns to `caller`: behind the Fortran bindings, if
  // that lies in them. For each call that is watched: it walks the stack for those alone.
  [[nodiscard]] const void* behind_bindings(const void* caller);
  // Looks up many at once; later questions for these cost nothing.
  void look_up(std::span<const SourcePlace> places);
  // "ring.c:41", "ring+0x1234"; empty: not known.
  [[nodiscard]] std::string name(SourcePlace place);
  [[nodiscard]] std::string name(const void* address) { return name(source_place(address)); }
  // As it follows a call's name: " (ring.c:41)", or nothing.
  [[nodiscard]] std::string behind_call(SourcePlace place);
  [[nodiscard]] std::string behind_call(const void* address) { return behind_call(source_place(address)); }

 private:
  void look_up_with_lock(std::span<const SourcePlace> places);

  std::mutex modules_mutex_;
  LoadedModules modules_;
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> known_;
};

}  // namespace margay::sim
