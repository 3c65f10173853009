// Copying a strip of runs to or from packed bytes: the inner loop of every noncontiguous message.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi_adi/datatype/walker.hpp"

namespace margay::mpi_adi {

// `count` of a strip's first runs, moved by `by`: of the strip as it is remembered, since one that was just copied is
// read in other pieces than it was written in, which a processor waits for. All of them if it has entries. Returns the
// packed side's end, as the others.
std::byte* pack_strip(std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count);
const std::byte* unpack_strip(const std::byte* packed, const Strip& strip, std::uintptr_t by, std::uint64_t count);

inline std::byte* pack_strip(std::byte* packed, const Strip& strip) {
  return pack_strip(packed, strip, 0, strip.count);
}
inline const std::byte* unpack_strip(const std::byte* packed, const Strip& strip) {
  return unpack_strip(packed, strip, 0, strip.count);
}

}  // namespace margay::mpi_adi
