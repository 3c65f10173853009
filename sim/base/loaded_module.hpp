// A file that this process has loaded, the program itself or a library: where it lies, and which build it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// loaded_module_of() for who asks often: it remembers what it has found until the process unloads a file. One thread at
// a time.
class LoadedModules {
 public:
  // Until the next question; nullptr: in no file.
  [[nodiscard]] const LoadedModule* of(std::uintptr_t address);

 private:
  std::vector<LoadedModule> found_;
  unsigned long long unloaded_ = 0;
};

}  // namespace margay::sim
