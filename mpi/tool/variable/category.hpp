// The categories of variables: one for margay as a whole, and below it one for each subject.
#pragma once

#include <cstdint>
#include <span>

#include "mpi/layers.hpp"

namespace margay::mpi {

// Their values are the categories' indices in MPI_T.
enum class Category : std::uint8_t { margay, protocols, queues, heap, wires, kernel, waiting, job, windows };

// The name and description that tools see.
struct CategoryText {
  // Identifies the category for MPI_T_category_get_index.
  const char* name;
  const char* description;
};

// The categories, in the order of the enumeration. All but the first are children of the first.
[[nodiscard]] std::span<const CategoryText> categories();

}  // namespace margay::mpi
