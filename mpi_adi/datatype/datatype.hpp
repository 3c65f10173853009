// A datatype as handles name it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "mpi_adi/datatype/definition.hpp"
#include "mpi_adi/object/attribute.hpp"

namespace margay::mpi_adi {

// Passive. What every message asks for stands here; all else is in the definition. Reference counted like Communicator:
// one for the user's handle, one for each persistent request. Aligned, so that one line has all that a send looks at.
struct alignas(64) Datatype {
  static constexpr std::uint64_t kCountMax = std::numeric_limits<std::int64_t>::max();

  Datatype() = default;
  explicit Datatype(TypePtr made)
      : size(made->size),
        extent(made->extent()),
        count_max(made->size == 0 ? kCountMax : kCountMax / made->size),
        is_dense(made->layout.is_run() && made->layout.offset == 0 &&
                 made->extent() == static_cast<std::int64_t>(made->size)),
        definition(std::move(made)) {}

  int handle = 0;
  std::uint32_t references = 1;
  std::uint64_t size = 0;   // bytes of data in one element
  std::int64_t extent = 0;  // distance between elements
  // More elements have more than 2^63 - 1 bytes. Without a sign, so that one comparison refuses negative counts too.
  std::uint64_t count_max = kCountMax;
  bool is_dense = false;
  bool predefined = false;  // made by the library: never freed
  bool committed = false;
  bool in_trace = false;  // its name was told to the trace (device/trace_definitions)
  TypePtr definition;
  std::string name;
  AttributeList attributes;

  // `count` elements are one run of bytes that begins at the buffer's address.
  [[nodiscard]] bool dense() const { return is_dense; }
};

// One byte, without a definition: for messages of the library's own.
[[nodiscard]] inline Datatype own_bytes() {
  Datatype type;
  type.size = 1;
  type.extent = 1;
  type.is_dense = true;
  return type;
}

}  // namespace margay::mpi_adi
