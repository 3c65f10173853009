// Where the bytes of `count` elements of a datatype lie, as a region: one run, or the type's layout. Paper 001, section
// 5: the combined block "was designed to be used for operations with non-contiguous datatypes". Nothing is packed and
// no table of pieces is made: bytes go from their places to the wire, and from the wire to their places.
#pragma once

#include <cstdint>

#include "mpi_adi/datatype/datatype.hpp"
#include "portals/base/region.hpp"

namespace margay::mpi_adi {

class Pieces {
 public:
  // The region of `count` elements at `buffer`. Valid until the next call, clear(), or the object's end; the user's
  // memory must stay too. The type may be freed meanwhile.
  [[nodiscard]] portals::Region to_send(const void* buffer, std::int64_t count, const Datatype& type) {
    // A region is read or written; this one is only read.
    return to_receive(const_cast<void*>(buffer), count, type);
  }
  [[nodiscard]] portals::Region to_receive(void* buffer, std::int64_t count, const Datatype& type) {
    return type.dense() ? run(buffer, count, type) : laid_out(buffer, count, type);
  }
  // Gives up what it refers to.
  void clear() {
    if (held_) held_.reset();
  }

 private:
  [[nodiscard]] static portals::Region run(void* buffer, std::int64_t count, const Datatype& type) {
    return portals::Region(buffer, static_cast<std::size_t>(static_cast<std::uint64_t>(count) * type.size));
  }
  [[nodiscard, gnu::noinline]] portals::Region laid_out(void* buffer, std::int64_t count, const Datatype& type);

  TypePtr held_;  // has the layout that the region refers to
};

}  // namespace margay::mpi_adi
