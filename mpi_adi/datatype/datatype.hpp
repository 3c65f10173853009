// A datatype: the object of an MPI_Datatype handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "mpi_adi/datatype/definition.hpp"
#include "mpi_adi/object/attribute.hpp"

namespace margay::mpi_adi {

// A datatype, as data: the numbers that each message needs, and a reference to the definition, which has everything
// else. References are counted by hand: one for the program's handle, and one for each user that may outlive the handle
// (persistent requests, nonblocking collective calls, attribute callbacks). Aligned, so that one cache line has all
// fields that a send reads.
struct alignas(64) Datatype {
  // The count_max of a type without data.
  static constexpr std::uint64_t kCountMax = std::numeric_limits<std::int64_t>::max();

  Datatype() = default;
  // Requires: `made` is not nullptr.
  explicit Datatype(TypePtr made)
      : size(made->size),
        extent(made->extent()),
        count_max(made->size == 0 ? kCountMax : kCountMax / made->size),
        is_dense(made->layout.is_run() && made->layout.offset == 0 &&
                 made->extent() == static_cast<std::int64_t>(made->size)),
        definition(std::move(made)) {}

  // MPI_Datatype; 0: a type of the library's own.
  int handle = 0;
  // A predefined type is not deleted at 0.
  std::uint32_t references = 1;
  std::uint64_t size = 0;   // bytes of data in one element
  std::int64_t extent = 0;  // bytes from one element to the next; may be negative
  // The most elements whose data is at most 2^63 - 1 bytes. Unsigned, so that one comparison rejects negative counts,
  // too.
  std::uint64_t count_max = kCountMax;
  bool is_dense = false;    // see dense()
  bool predefined = false;  // never freed
  bool committed = false;   // MPI_Type_commit was called; required for communication
  bool in_trace = false;    // its name was recorded in the trace (device/trace_definitions)
  TypePtr definition;       // nullptr: own_bytes()
  // The name that MPI_Type_set_name set, or the name of a predefined type.
  std::string name;
  // The program's attributes (MPI_Type_set_attr). The keys' functions copy them to a duplicate.
  AttributeList attributes;

  // Whether consecutive elements are one run of bytes that begins at the buffer's address. Then a count and a size
  // describe them, without a layout.
  // Tested for each message, to choose between the two forms of a region.
  [[nodiscard]] bool dense() const { return is_dense; }
};

// A type of one byte without a definition, for messages of the library's own.
[[nodiscard]] inline Datatype own_bytes() {
  Datatype type;
  type.size = 1;
  type.extent = 1;
  type.is_dense = true;
  return type;
}

}  // namespace margay::mpi_adi
