// A program's own reduction function (MPI_Op_create) on elements of a datatype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi_adi/object/user_functions.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

// Combines vectors, which are the packed data of `count` elements, as messages carry them. If the datatype has gaps,
// each combination unpacks the vectors into memory of the datatype's layout, calls the function on it, and packs the
// result. Gaps have unspecified contents. While the function runs, the process lock is not held.
class UserReduction {
 public:
  // `rank`, and `type`, outlive it. `count`: elements of a vector.
  UserReduction(mpi_adi::MpiRank& rank, const mpi_adi::Operation& operation, mpi_adi::Datatype& type,
                std::int64_t count);

  // Whether an element's data is one run of bytes that begins at its address, so that vectors need no copy.
  [[nodiscard]] bool vectors_are_memory() const { return type_.dense(); }
  // Bytes of a whole vector.
  [[nodiscard]] std::uint64_t vector_bytes() const { return static_cast<std::uint64_t>(count_) * type_.size; }
  // Bytes of an element in a vector.
  [[nodiscard]] std::uint64_t element_bytes() const { return type_.size; }
  // Sets inout = in op inout for `count` elements of two vectors. Requires: the vectors are not empty.
  void combine(const void* in, void* inout, std::int64_t count) const;
  // The same for whole vectors in the program's buffers, which have the datatype's layout.
  void combine_in_place(const void* in, void* inout) const { combine_in_memory(in, inout, count_); }
  // Copy between a vector and a buffer with the datatype's layout.
  void pack(std::byte* vector, const void* buffer) const { pack(vector, buffer, count_); }
  void pack(std::byte* vector, const void* buffer, std::int64_t count) const;
  void unpack(void* buffer, const std::byte* vector) const { unpack(buffer, vector, count_); }
  // Unpacks the first `count` elements of a vector, which may begin inside a longer one.
  void unpack(void* buffer, const std::byte* vector, std::int64_t count) const;

 private:
  // Calls the program's function, with elements in memory; in several calls if `count` exceeds an int.
  void combine_in_memory(const void* in, void* inout, std::int64_t count) const;
  // Memory with the layout of `count` elements. elements() is the address to pass as a buffer, aligned for any
  // datatype.
  class Shaped {
   public:
    Shaped() = default;
    // `type` is needed during the construction only.
    Shaped(const mpi_adi::Datatype& type, std::int64_t count);
    [[nodiscard]] void* elements() const { return elements_; }

   private:
    // The allocation; elements_ may lie outside it, if the data does not begin at the elements' address.
    std::unique_ptr<std::byte[]> memory_;
    void* elements_ = nullptr;
  };

  // The rank whose process lock is left while the function runs.
  mpi_adi::MpiRank& rank_;
  // A copy, because the program may free its handle meanwhile.
  const mpi_adi::Operation operation_;
  // The elements' type. If the program has freed the type's handle, the function gets a temporary one.
  mpi_adi::Datatype& type_;
  // Elements of a whole vector.
  std::int64_t count_;
  // Memory with the datatype's layout for both operands; empty if vectors need none.
  Shaped in_;
  Shaped inout_;
};

}  // namespace margay::collectives
