// A program's own reduction function on `count` elements of a datatype.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mpi_adi/object/user_functions.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

// Rows are the elements' data, packed: the parts of a message. Where a datatype has gaps the function gets memory of
// the datatype's shape, filled before and packed after: a copy in and out for each combination. What a gap holds is
// unspecified, as is what the function writes there.
class UserReduction {
 public:
  // All outlive it.
  UserReduction(mpi_adi::MpiRank& rank, const mpi_adi::Operation& operation, mpi_adi::Datatype& type,
                std::int64_t count);

  // Rows, or elements in memory, whose data is one run of bytes that begins at the address.
  [[nodiscard]] bool rows_are_memory() const { return type_.dense(); }
  [[nodiscard]] std::uint64_t row_bytes() const { return static_cast<std::uint64_t>(count_) * type_.size; }
  // Of an element in a row.
  [[nodiscard]] std::uint64_t element_bytes() const { return type_.size; }
  // Of rows, or of `count` elements of both. Requires: they have bytes.
  void combine(const void* in, void* inout, std::int64_t count) const;
  // Of the program's buffers, as they lie in memory.
  void combine_in_place(const void* in, void* inout) const { combine_in_memory(in, inout, count_); }
  void pack(std::byte* row, const void* buffer) const { pack(row, buffer, count_); }
  void pack(std::byte* row, const void* buffer, std::int64_t count) const;
  void unpack(void* buffer, const std::byte* row) const { unpack(buffer, row, count_); }
  // The first `count` elements of a row, which may begin inside of a longer one.
  void unpack(void* buffer, const std::byte* row, std::int64_t count) const;

 private:
  void combine_in_memory(const void* in, void* inout, std::int64_t count) const;
  // Memory for `count` elements; elements() is where a buffer's address would be, aligned for any datatype.
  class Shaped {
   public:
    Shaped() = default;
    Shaped(const mpi_adi::Datatype& type, std::int64_t count);
    [[nodiscard]] void* elements() const { return elements_; }

   private:
    std::unique_ptr<std::byte[]> memory_;
    void* elements_ = nullptr;
  };

  mpi_adi::MpiRank& rank_;
  const mpi_adi::Operation operation_;  // the program may free its handle meanwhile
  mpi_adi::Datatype& type_;
  std::int64_t count_;
  Shaped in_;
  Shaped inout_;
};

}  // namespace margay::collectives
