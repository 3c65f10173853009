// The operands of a reduction: the checked operation on `count` elements of a checked datatype, and the rows of bytes
// that algorithms move and combine.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "collectives/op/user_reduction.hpp"
#include "collectives/select/perform.hpp"
#include "mpi/call/call.hpp"

namespace margay::mpi {

class Operands {
 public:
  // Notes an error (MPI_ERR_OP) when the operation is none, or not defined on that datatype. `type` may be null after
  // an error that was noted already.
  Operands(Call& call, MPI_Op op, Datatype* type, std::int64_t count);
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  // All that follow require: no error was noted.

  // This rank's contribution and, at a root or of an allreduce, its result. `receive`: the program's memory for the
  // result, where the row lies if it can; nullptr where there is none.
  [[nodiscard]] Reduction begin(const void* send, void* receive);
  // Puts the result where the program wants it.
  void finish(void* receive) const;
  // The same of a part: `count` elements from the `first` one of `row`, which begin() made.
  void finish_part(void* receive, const std::byte* row, std::int64_t first, std::int64_t count) const;
  // Of an element in a row.
  [[nodiscard]] std::uint64_t element_bytes() const {
    return user_ ? user_->element_bytes() : static_cast<std::uint64_t>(type_->extent);
  }
  // The operation is a function of the program's.
  [[nodiscard]] bool of_program() const { return user_.has_value(); }
  // inout = in op inout, both the program's: MPI_Reduce_local.
  void combine(const void* in, void* inout) const;

 private:
  // A predefined operation's elements travel as they lie in memory, with a pair's padding.
  [[nodiscard]] bool rows_are_memory() const { return !user_ || user_->rows_are_memory(); }
  [[nodiscard]] std::uint64_t row_bytes() const {
    return user_ ? user_->row_bytes() : static_cast<std::uint64_t>(count_ * type_->extent);
  }

  Datatype* type_;
  std::int64_t count_;
  Combine predefined_ = nullptr;
  std::optional<UserReduction> user_;
  bool commutative_ = true;
  TreePortal* portal_ = nullptr;  // who has the memory of calls
  KeptMemory::Run own_;
};

}  // namespace margay::mpi
