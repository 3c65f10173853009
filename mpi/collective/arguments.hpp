// Argument checks that the collective bindings share, and a buffer as the bytes that travel.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "collectives/op/user_reduction.hpp"
#include "collectives/portal/collective.hpp"
#include "collectives/select/perform.hpp"
#include "mpi/call/call.hpp"
#include "mpi_adi/device/pieces.hpp"

namespace margay::mpi {

// The bytes of `count` elements of a checked datatype.
class TypedData {
 public:
  // To be read.
  TypedData(const void* buffer, std::int64_t count, const Datatype& type)
      : region_(pieces_.to_send(buffer, count, type)) {}
  // To be filled.
  TypedData(void* buffer, std::int64_t count, Datatype& type) : region_(pieces_.to_receive(buffer, count, type)) {}
  [[nodiscard]] const portals::Region& region() const { return region_; }

 private:
  Pieces pieces_;
  portals::Region region_;
};

// Whether the handle names an intercommunicator; whether it names anything is looked at later.
[[nodiscard]] inline bool is_between_groups(Call& call, MPI_Comm comm) {
  const Communicator* const communicator = call.rank().communicator(comm);
  return communicator != nullptr && communicator->is_inter();
}

// MPI_IN_PLACE where the standard does not allow it, two buffers that are one.
void check_buffers(Call& call, const void* send, const void* receive, std::int64_t count);

// Raises what went wrong between the ranks, if anything did.
void note_error(Call& call, int error_class);
inline void note_error(Call& call, const Collective& collective) {
  note_error(call, collective.error_class());
}

// The calling rank's portals for collectives.
[[nodiscard]] inline TreePortal& collectives_of(Call& call) {
  return *static_cast<TreePortal*>(call.rank().collectives());
}

// The operands of a reduction: the checked operation on `count` elements of a checked datatype, and the rows of bytes
// that algorithms move and combine.

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
