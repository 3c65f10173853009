// The hint mpi_minimum_memory_alignment of what allocates memory (MPI 4.0, 9.2 and 12.2.2).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "mpi_adi/object/info.hpp"

namespace margay::mpi_adi {

inline constexpr const char* kMemoryAlignmentHint = "mpi_minimum_memory_alignment";
inline constexpr std::size_t kMemoryAlignmentBytes = 64;  // a cache line, also unasked
inline constexpr std::size_t kMemoryAlignmentMaxBytes = std::size_t{1} << 30;

// What is asked for, when it is a power of two up to the maximum and more than what is given unasked.
[[nodiscard]] inline std::size_t memory_alignment(const Info& info) {
  const std::string* asked = info.find(kMemoryAlignmentHint);
  if (asked == nullptr) return kMemoryAlignmentBytes;
  const std::size_t bytes = std::strtoull(asked->c_str(), nullptr, 10);
  const bool usable = std::has_single_bit(bytes) && bytes <= kMemoryAlignmentMaxBytes;
  return usable && bytes > kMemoryAlignmentBytes ? bytes : kMemoryAlignmentBytes;
}

}  // namespace margay::mpi_adi
