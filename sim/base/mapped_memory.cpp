#include "sim/base/mapped_memory.hpp"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace margay::sim {

// The lines come by address: "55d0c8a00000-55d0c8a21000 rw-p ...".
bool is_writable_memory(const void* begin, std::size_t bytes) {
  auto next = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(begin));
  const std::uint64_t end = next + bytes;
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (next < end && std::getline(maps, line)) {
    std::uint64_t from = 0, to = 0;
    char rights[5] = "";
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s", &from, &to, rights) != 3) return false;
    if (to <= next) continue;
    if (from > next || rights[0] != 'r' || rights[1] != 'w') return false;
    next = to;
  }
  return next >= end;
}

}  // namespace margay::sim
