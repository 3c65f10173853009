// A type signature in a few bits (MPI 4.0, 5.1.1). Equal type signatures have equal values, however the types were
// built.
#pragma once

#include <cstdint>
#include <string>

#include "mpi_adi/datatype/definition.hpp"

namespace margay::mpi_adi {

// The value of a signature, small enough for the three free bytes of a message's note (device/type_check). The default
// is the signature of no data.
struct Signature {
  enum class Kind : std::uint8_t {
    empty,
    uniform,  // one predefined type; MPI_2INT counts as two of MPI_INT
    mixed,    // several predefined types
    packed,   // it contains MPI_PACKED, which fits any type
  };
  Kind kind = Kind::empty;
  int leaf = 0;            // of a uniform one: the predefined type's handle
  std::uint16_t hash = 0;  // of a mixed one; two different signatures have the same hash once in 65,536

  // Whether the standard allows data of one signature to be received with the other (MPI 4.0, 3.3.1): the types are
  // equal, or one side is MPI_PACKED. MPI_BYTE is treated like any other type.
  [[nodiscard]] bool fits(const Signature& other) const {
    if (kind == Kind::packed || other.kind == Kind::packed) return true;
    return kind == other.kind && leaf == other.leaf && hash == other.hash;
  }
};

// The signature of the first `bytes` bytes of consecutive elements of `type`. Walks one element.
[[nodiscard]] Signature signature_of(const TypeDefinition& type, std::uint64_t bytes);

// A description of the elements in `bytes` bytes of data, such as "4 x MPI_INT", for findings.
[[nodiscard]] std::string elements_text(const Signature& signature, std::uint64_t bytes);

}  // namespace margay::mpi_adi
