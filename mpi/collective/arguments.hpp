// Argument checks that the collective bindings share, and buffers as bytes to transfer.
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

// The bytes of `count` elements of a checked datatype, as a region. Refers to the program's buffer and to the datatype,
// which outlive it; no data is copied.
class TypedData {
 public:
  // For reading.
  TypedData(const void* buffer, std::int64_t count, const Datatype& type)
      : region_(pieces_.to_send(buffer, count, type)) {}
  // For writing.
  TypedData(void* buffer, std::int64_t count, Datatype& type) : region_(pieces_.to_receive(buffer, count, type)) {}
  [[nodiscard]] const portals::Region& region() const { return region_; }

 private:
  // The pieces to which region_ refers.
  Pieces pieces_;
  portals::Region region_;
};

// Whether the handle names an intercommunicator; false for an invalid handle, which a later check reports.
[[nodiscard]] inline bool is_between_groups(Call& call, MPI_Comm comm) {
  const Communicator* const communicator = call.rank().communicator(comm);
  return communicator != nullptr && communicator->is_inter();
}

// Checks the two buffers of a reduction: their addresses must differ, and the receive buffer must not be MPI_IN_PLACE
// (MPI_ERR_BUFFER). A partial overlap is not detected.
void check_buffers(Call& call, const void* send, const void* receive, std::int64_t count);

// Sets the error of a finished collective call, if it has one, with a message. With --check-types a truncation first
// waits for the finding that explains it.
void record_error(Call& call, int error_class);
// The same for a blocking call, which `collective` carried out.
inline void record_error(Call& call, const Collective& collective) {
  record_error(call, collective.error_class());
}

// The calling rank's portals for collectives. Never null: the rank creates them when it joins the job.
[[nodiscard]] inline TreePortal& collectives_of(Call& call) {
  return *static_cast<TreePortal*>(call.rank().collectives());
}

// The operands of a reduction: the checked operation on `count` elements of a checked datatype, and the vectors of
// bytes that algorithms transfer and combine. The binding, or its request, owns it.

class Operands {
 public:
  // Sets MPI_ERR_OP if the operation is invalid, or not defined on the datatype. `type` may be null after an earlier
  // error.
  Operands(Call& call, MPI_Op op, Datatype* type, std::int64_t count);
  Operands(const Operands&) = delete;
  Operands& operator=(const Operands&) = delete;

  // All members below require: no error is set.

  // Makes the vector, which contains this rank's contribution and later the result. `receive`: the program's memory for
  // the result; null if this rank gets none. The vector lies in this memory if its layout permits.
  [[nodiscard]] Reduction begin(const void* send, void* receive);
  // Copies the result to the program's memory, unless it is there. Called on ranks with a result only.
  void finish(void* receive) const;
  // The same for a part: `count` elements, from element `first`, of `vector`, which begin() made.
  void finish_part(void* receive, const std::byte* vector, std::int64_t first, std::int64_t count) const;
  // Bytes of an element in a vector.
  [[nodiscard]] std::uint64_t element_bytes() const {
    return user_ ? user_->element_bytes() : static_cast<std::uint64_t>(type_->extent);
  }
  // Whether the operation is a function of the program.
  [[nodiscard]] bool of_program() const { return user_.has_value(); }
  // Sets inout = in op inout in the program's buffers: MPI_Reduce_local. Requires: each has the count of elements given
  // to the constructor.
  void combine(const void* in, void* inout) const;

 private:
  // Whether vectors have the layout of the program's memory. The vectors of predefined operations do: their elements
  // include the padding of pair types.
  [[nodiscard]] bool vectors_are_memory() const { return !user_ || user_->vectors_are_memory(); }
  [[nodiscard]] std::uint64_t vector_bytes() const {
    return user_ ? user_->vector_bytes() : static_cast<std::uint64_t>(count_ * type_->extent);
  }

  // The elements' type, and their number in a vector.
  Datatype* type_;
  std::int64_t count_;
  // The loop of a predefined operation; null for an operation of the program.
  Combine predefined_ = nullptr;
  // The function of a program's operation.
  std::optional<UserReduction> user_;
  // Predefined operations all commute.
  bool commutative_ = true;
  // The source of vectors' memory.
  TreePortal* portal_ = nullptr;
  // The vector, if it is not in the program's memory.
  KeptMemory::Run own_;
};

}  // namespace margay::mpi
