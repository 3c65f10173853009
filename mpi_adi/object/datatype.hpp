// A datatype: what bytes an element is made of, in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi_adi/object/attribute.hpp"

namespace margay::mpi_adi {

// A run of bytes of one element, relative to the element's address.
struct TypeBlock {
  std::int64_t offset = 0;
  std::uint64_t bytes = 0;
};

// Passive. One element: `blocks` in type-map order, neighbours that touch are joined. Reference counted like
// Communicator.
struct Datatype {
  int handle = 0;
  std::uint64_t size = 0;  // bytes of data in one element
  std::int64_t lower_bound = 0;
  std::int64_t extent = 0;  // distance between elements
  std::vector<TypeBlock> blocks;
  int basic = 0;  // handle of the one predefined type that it is made of; 0 when mixed (pair types: their own)
  std::uint32_t references = 1;
  bool predefined = false;
  bool committed = false;
  AttributeList attributes;
  // `count` elements are one run of bytes that begins at the buffer's address.
  [[nodiscard]] bool dense() const {
    return blocks.size() == 1 && blocks[0].offset == 0 && extent == static_cast<std::int64_t>(size);
  }
};

}  // namespace margay::mpi_adi
