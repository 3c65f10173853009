// A file that this process has loaded, the program itself or a library: where it lies, and which build it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace margay::sim {

struct LoadedModule {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::string build_id;  // hexadecimal; "-": none
  std::string path;
  bool is_program = false;
  [[nodiscard]] bool has(std::uintptr_t address) const { return address >= begin && address < end; }
};

// Nothing: `address` lies in no file (code that was made at run time).
[[nodiscard]] std::optional<LoadedModule> loaded_module_of(std::uintptr_t address);
// The one whose build_number() this is.
[[nodiscard]] std::optional<LoadedModule> loaded_module_of_build(std::uint64_t number);
// The same for one build wherever it is loaded, in any process; for files without a build id by their path. Not 0.
[[nodiscard]] std::uint64_t build_number(const LoadedModule& module);

}  // namespace margay::sim
