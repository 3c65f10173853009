// The categories that variables are listed under: one of margay as a whole, and one for each sort of thing below it.
#pragma once

#include <cstdint>
#include <span>

#include "mpi/layers.hpp"

namespace margay::mpi {

enum class Category : std::uint8_t { margay, protocols, queues, heap, wires, kernel, waiting, job, windows };

struct CategoryText {
  const char* name;
  const char* description;
};

// In the order of the enumeration. All but the first are the first one's.
[[nodiscard]] std::span<const CategoryText> categories();

}  // namespace margay::mpi
