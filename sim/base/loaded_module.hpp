// A file that this process has loaded, the program itself or a library: its addresses and its build.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace margay::sim {

// One loaded file: addresses from `begin` up to `end`. It is a copy of the loader's data, and does not keep the file
// loaded.
struct LoadedModule {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  // Hexadecimal; "-": none.
  std::string build_id;
  // The path that the loader reports; for the program, the target of /proc/self/exe.
  std::string path;
  bool is_program = false;
  // Whether the file contains the address.
  [[nodiscard]] bool has(std::uintptr_t address) const { return address >= begin && address < end; }
};

// The file that contains `address`; nothing for code that was generated at run time. Visits the loaded files in turn
// under the loader's lock, so it is for errors and long waits. For frequent calls use LoadedModules.
[[nodiscard]] std::optional<LoadedModule> loaded_module_of(std::uintptr_t address);
// The file with this build_number().
[[nodiscard]] std::optional<LoadedModule> loaded_module_of_build(std::uint64_t number);
// A number that identifies a build in every process that loads it, from its build id, or from its path if it has none.
// Never 0.
[[nodiscard]] std::uint64_t build_number(const LoadedModule& module);

// A cache of loaded_module_of(), valid until the process unloads a file. One thread at a time.
class LoadedModules {
 public:
  // The file that contains `address`, valid until the next call; nullptr: none.
  [[nodiscard]] const LoadedModule* of(std::uintptr_t address);

 private:
  // Files that were found so far, in no order; few, so a search is linear.
  std::vector<LoadedModule> found_;
  // The loader's count of unloaded files when the cache was filled. A different count empties the cache.
  unsigned long long unloaded_ = 0;
};

}  // namespace margay::sim
