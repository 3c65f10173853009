// An info object: pairs of a key and a value, in the order in which the keys came (MPI 4.0, chapter 10).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mpi_adi/abi/mpi.h"

namespace margay::mpi_adi {

// Passive.
struct Info {
  MPI_Info handle = MPI_INFO_NULL;
  std::vector<std::pair<std::string, std::string>> pairs;

  // nullptr: no such key.
  [[nodiscard]] const std::string* find(std::string_view key) const;
  // Another value for a known key, or a new pair at the end.
  void set(std::string_view key, std::string_view value);
  // False: no such key.
  bool remove(std::string_view key);
};

}  // namespace margay::mpi_adi
