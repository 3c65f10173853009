// An info object: pairs of key and value, in the order in which the keys were set (MPI 4.0, chapter 10).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// An info object, as data. Searches are linear, because info objects have few keys.
struct Info {
  // MPI_INFO_NULL: the program has no handle, for example of a communicator's own copy.
  MPI_Info handle = MPI_INFO_NULL;
  // Each key occurs once.
  std::vector<std::pair<std::string, std::string>> pairs;

  // The value of a key, or nullptr; keys are case-sensitive. Valid until the object changes.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  // Sets a key's value; a new key is appended.
  void set(std::string_view key, std::string_view value);
  // Removes a key. False: the key is not set.
  bool remove(std::string_view key);
};

// The hint by which a program requests the alignment of memory, in bytes (MPI 4.0, 9.2 and 12.2.2). MPI_Alloc_mem and
// the calls that allocate windows read it.
inline constexpr const char* kMemoryAlignmentHint = "mpi_minimum_memory_alignment";
inline constexpr std::size_t kMemoryAlignmentBytes = 64;  // a cache line, the alignment without the hint
// A greater alignment is ignored, like any other invalid value.
inline constexpr std::size_t kMemoryAlignmentMaxBytes = std::size_t{1} << 30;

// The hint's value, if it is a power of two up to the maximum and more than the default; otherwise the default.
[[nodiscard]] inline std::size_t memory_alignment(const Info& info) {
  const std::string* asked = info.find(kMemoryAlignmentHint);
  if (asked == nullptr) return kMemoryAlignmentBytes;
  const std::size_t bytes = std::strtoull(asked->c_str(), nullptr, 10);
  const bool usable = std::has_single_bit(bytes) && bytes <= kMemoryAlignmentMaxBytes;
  return usable && bytes > kMemoryAlignmentBytes ? bytes : kMemoryAlignmentBytes;
}

}  // namespace margay::mpi_adi
