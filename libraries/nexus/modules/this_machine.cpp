#include "libraries/nexus/modules/this_machine.hpp"

#include <cstdio>

namespace margay::nexus::core {

std::uint64_t this_machine() {
  static const std::uint64_t number = [] {
    std::FILE* const file = std::fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file == nullptr) return std::uint64_t{0};
    // FNV-1a.
    std::uint64_t hash = 0xCBF29CE484222325;
    for (int one = std::fgetc(file); one != EOF; one = std::fgetc(file)) {
      hash = (hash ^ static_cast<std::uint64_t>(one)) * 0x100000001B3;
    }
    std::fclose(file);
    return hash;
  }();
  return number;
}

}  // namespace margay::nexus::core
