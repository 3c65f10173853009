// How much memory this process can still have: what the machine has left, and what its control groups allow.
#pragma once

#include <cstdint>
#include <string>

namespace margay::sim {

struct AvailableMemory {
  std::uint64_t bytes = ~std::uint64_t{0};  // the least of all that the system tells; all ones: it tells nothing
  std::string words;                        // what limits: "MemAvailable of the machine"
};

// Files that can be dropped from memory count as available, swap does not. Control groups of version 2 and 1, this
// process's own and all above it. Reads a few files: 0.1 ms. `root`: what stands before /proc and /sys.
[[nodiscard]] AvailableMemory available_memory(const std::string& root = "");

// Of the machine; 0: the system does not tell.
[[nodiscard]] std::uint64_t physical_memory_bytes();

}  // namespace margay::sim
