#include "mpi_adi/datatype/elements.hpp"

#include <algorithm>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/datatype/walker.hpp"

namespace margay::mpi_adi {

std::optional<std::uint64_t> elements_in(const TypeDefinition& type, std::uint64_t bytes) {
  if (type.size == 0) return bytes == 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
  std::uint64_t elements = bytes / type.size * type.elements;
  std::uint64_t left = bytes % type.size;
  if (left == 0) return elements;
  // Whole elements are counted above, so the walk covers less than one element.
  LayoutWalker walker(*type.signature.node, 0, 0);
  while (left != 0) {
    const Strip run = walker.take(left);
    const std::uint64_t one = basic_size_bytes(run.leaf);
    const std::uint64_t here = run.total;
    // The bytes end inside a predefined element.
    if (here % one != 0) return std::nullopt;
    elements += here / one;
    left -= here;
  }
  return elements;
}

std::optional<std::uint64_t> bytes_of_elements(const TypeDefinition& type, std::uint64_t elements) {
  constexpr std::uint64_t kBytesMax = (1ULL << 63) - 1;
  if (type.elements == 0) return 0;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(elements / type.elements, type.size, &bytes)) return std::nullopt;
  std::uint64_t left = elements % type.elements;
  LayoutWalker walker(*type.signature.node, 0, 0);
  // If the last strip has more elements than are left, only a part of it is counted.
  for (std::uint64_t here = 0; left != 0; left -= here) {
    const Strip run = walker.take(type.size);
    const std::uint64_t one = basic_size_bytes(run.leaf);
    here = std::min(left, run.total / one);
    bytes += here * one;
  }
  return bytes > kBytesMax ? std::nullopt : std::optional(bytes);
}

}  // namespace margay::mpi_adi
