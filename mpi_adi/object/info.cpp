#include "mpi_adi/object/info.hpp"

namespace margay::mpi_adi {

const std::string* Info::find(std::string_view key) const {
  for (const auto& [name, value] : pairs) {
    if (name == key) return &value;
  }
  return nullptr;
}

void Info::set(std::string_view key, std::string_view value) {
  // The key keeps its place, so that MPI_Info_get_nthkey is stable.
  for (auto& [name, old] : pairs) {
    if (name == key) {
      old = value;
      return;
    }
  }
  pairs.emplace_back(key, value);
}

bool Info::remove(std::string_view key) {
  return std::erase_if(pairs, [key](const auto& pair) { return pair.first == key; }) > 0;
}

}  // namespace margay::mpi_adi
