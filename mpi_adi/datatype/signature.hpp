// What a message's bytes are, in a few bits: two type signatures (MPI 4.0, 5.1.1) that are equal give equal ones.
#pragma once

#include <cstdint>
#include <string>

#include "mpi_adi/datatype/definition.hpp"

namespace margay::mpi_adi {

struct Signature {
  enum class Kind : std::uint8_t {
    empty,
    uniform,  // all of one predefined type; MPI_2INT counts as two of MPI_INT
    mixed,
    packed,  // there is MPI_PACKED in it: anything
  };
  Kind kind = Kind::empty;
  int leaf = 0;            // of uniform: the handle of the predefined type
  std::uint16_t hash = 0;  // of mixed; different signatures have the same one time in 65,536

  // Whether the standard lets the one be received as the other (MPI 4.0, 3.3.1): equal types, or MPI_PACKED on a side.
  // MPI_BYTE goes with MPI_BYTE only.
  [[nodiscard]] bool fits(const Signature& other) const {
    if (kind == Kind::packed || other.kind == Kind::packed) return true;
    return kind == other.kind && leaf == other.leaf && hash == other.hash;
  }
};

// Of the first `bytes` bytes of elements of `type` in a row. Costs a walk over one element.
[[nodiscard]] Signature signature_of(const TypeDefinition& type, std::uint64_t bytes);

// `bytes` of them as words: "4 x MPI_INT".
[[nodiscard]] std::string words_of_elements(const Signature& signature, std::uint64_t bytes);

}  // namespace margay::mpi_adi
