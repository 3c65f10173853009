// The memory of `count` elements of a datatype, as a region: one run, or the type's layout. Paper 001, section 5: the
// combined block "was designed to be used for operations with non-contiguous datatypes". Nothing is packed, and no
// table of pieces is made: bytes are copied directly between the buffer and the wire.
#pragma once

#include <cstdint>

#include "mpi_adi/datatype/datatype.hpp"
#include "portals/base/region.hpp"

namespace margay::mpi_adi {

// A maker of regions, which keeps the layout to which its latest region refers. Each request has one; the device has
// one for sends that need no request.
class Pieces {
 public:
  // The region of `count` elements at `buffer`. Valid until the next call, clear(), or this object's end; the program's
  // memory must stay valid as long. The type may be freed meanwhile, because this object refers to its definition.
  [[nodiscard]] portals::Region to_send(const void* buffer, std::int64_t count, const Datatype& type) {
    // A region has no constness of its own; a send's region is only read.
    return to_receive(const_cast<void*>(buffer), count, type);
  }
  // The same for memory that is written. A dense type costs one multiplication.
  [[nodiscard]] portals::Region to_receive(void* buffer, std::int64_t count, const Datatype& type) {
    return type.dense() ? run(buffer, count, type) : laid_out(buffer, count, type);
  }
  // Drops the reference to the layout; the region is invalid then. Called at the end of each request, so that a freed
  // datatype's definition does not live on in the pool.
  void clear() {
    // Nearly always there is no reference, and clear() costs no atomic operation.
    if (held_) held_.reset();
  }

 private:
  // The region of a dense type.
  [[nodiscard]] static portals::Region run(void* buffer, std::int64_t count, const Datatype& type) {
    return portals::Region(buffer, static_cast<std::size_t>(static_cast<std::uint64_t>(count) * type.size));
  }
  // The region of any other type. Out of line, so that dense types pay a test and a multiplication.
  [[nodiscard, gnu::noinline]] portals::Region laid_out(void* buffer, std::int64_t count, const Datatype& type);

  TypePtr held_;  // owns the layout that the region refers to; one run needs none
};

}  // namespace margay::mpi_adi
