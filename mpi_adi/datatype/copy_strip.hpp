// Copying a strip of runs to or from packed bytes: the inner loop of every noncontiguous message.
#pragma once

#include <cstddef>

#include "mpi_adi/datatype/walker.hpp"

namespace margay::mpi_adi {

// Both return the packed side's end.
std::byte* pack_strip(std::byte* packed, const Strip& strip);
const std::byte* unpack_strip(const std::byte* packed, const Strip& strip);

}  // namespace margay::mpi_adi
