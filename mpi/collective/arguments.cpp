#include "mpi/collective/arguments.hpp"

#include <cstring>

#include "collectives/portal/rank_host.hpp"
#include "mpi/call/call.hpp"
#include "mpi_adi/op/operation.hpp"
#include "mpi_adi/rank/failure.hpp"

namespace margay::mpi {

// MPI forbids aliased buffers; a program passes MPI_IN_PLACE instead. Partial overlap is not detected.
void check_buffers(Call& call, const void* send, const void* receive, std::int64_t count) {
  if (!call.ok() || count == 0) return;
  if (receive == MPI_IN_PLACE) {
    call.error(MPI_ERR_BUFFER, "the receive buffer is MPI_IN_PLACE; that stands for the send buffer");
  } else if (send == receive) {
    call.error(MPI_ERR_BUFFER, "send and receive buffer are the same; pass MPI_IN_PLACE for the send buffer");
  }
}

// Formats the message of each class that collective calls and constructions return.
void record_error(Call& call, int error_class) {
  if (error_class == MPI_SUCCESS) [[likely]]
    return;
  // The check's finding explains the error, and must be reported before the error ends the job.
  if (error_class == MPI_ERR_TRUNCATE) await_call_check(call.rank());
  // The classes below come from collectives/comm, and from reading another rank's memory.
  if (error_class == MPI_ERR_OTHER) {
    return call.error(error_class,
                      "a block could not be read out of its rank's memory (process_vm_readv); --method long=ring takes "
                      "another way");
  }
  if (error_class == MPI_ERR_GROUP) {
    return call.error(error_class, "a member named processes that are not in the job, or one of them twice");
  }
  if (error_class == MPI_ERR_TOPOLOGY) {
    return call.error(error_class,
                      "a member sent edges that this process is not part of, or to ranks that do not exist");
  }
  if (error_class == MPI_ERR_NO_MEM) {
    return call.error(error_class, "not enough memory for the edges that a member sent");
  }
  call.error(error_class, error_class == MPI_ERR_TRUNCATE ? kDifferentCalls : lost_text(call.rank()));
}

namespace {

// The datatype by which an operation is looked up. Types made for Fortran's kinds have handles of their own; operations
// are looked up by the basic type that Fortran's compiler uses for the kind (MPI 4.0, 6.9.2 and 19.1.9).
MPI_Datatype operand_type(const Datatype& type) {
  switch (type.definition->origin.combiner) {
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
      return type.definition->basic();
    default:
      return type.handle;
  }
}

}  // namespace

Operands::Operands(Call& call, MPI_Op op, Datatype* type, std::int64_t count) : type_(type), count_(count) {
  if (!call.ok() || type == nullptr) return;
  portal_ = &collectives_of(call);
  if (is_predefined_op(op)) [[likely]] {
    const MPI_Datatype operand = operand_type(*type);
    predefined_ = predefined_combine(op, operand);
    // The table has a loop for each defined pair of operation and type.
    if (predefined_ != nullptr) {
      check_portability(call, op, operand);
      return;
    }
    call.error(MPI_ERR_OP, operation_text(op) + " is not defined on " + type_text(operand) +
                               (op == MPI_REPLACE || op == MPI_NO_OP ? ": it is for one-sided communication only"
                                                                     : " (MPI 4.0, 6.9.2)"));
    return;
  }
  const mpi_adi::Operation* const made = call.rank().handles().operations().find(op);
  if (made == nullptr) {
    call.error(MPI_ERR_OP, op == MPI_OP_NULL
                               ? "the operation is MPI_OP_NULL"
                               : operation_text(op) + " is not a valid operation (freed, or never created)");
    return;
  }
  commutative_ = made->commutative;
  // A copy of the operation, which the program may free meanwhile.
  user_.emplace(call.rank(), *made, *type, count);
}

// The vector lies in the program's receive buffer if that has the vector's layout, so that neither result nor
// contribution is copied twice.
Reduction Operands::begin(const void* send, void* receive) {
  const std::uint64_t bytes = vector_bytes();
  auto* vector = static_cast<std::byte*>(receive);
  // Without such a buffer the vector needs memory of its own.
  if (receive == nullptr || !vectors_are_memory()) {
    own_ = portal_->take_memory(bytes);
    vector = own_.get();
  }
  if (!vectors_are_memory()) {
    user_->pack(vector, send == MPI_IN_PLACE ? receive : send);
  } else if (send != MPI_IN_PLACE && bytes > 0) {
    std::memcpy(vector, send, bytes);
  }
  const auto count = static_cast<std::size_t>(count_);
  // Elements without bytes: there is nothing to combine, but algorithms divide by the bytes of an element, so these are
  // 1.
  if (element_bytes() == 0) return {vector, 0, 1, Reducer(*user_, commutative_)};
  if (user_) return {vector, count, user_->element_bytes(), Reducer(*user_, commutative_)};
  return {vector, count, static_cast<std::size_t>(type_->extent), Reducer(predefined_)};
}

void Operands::finish(void* receive) const {
  // Otherwise begin() has put the vector into the receive buffer.
  if (!vectors_are_memory()) user_->unpack(receive, own_.get());
}

void Operands::finish_part(void* receive, const std::byte* vector, std::int64_t first, std::int64_t count) const {
  // The receive buffer has room for one part only, so the vector is never in it, and the part is copied in both cases.
  const std::byte* const part = vector + static_cast<std::uint64_t>(first) * element_bytes();
  if (!vectors_are_memory()) return user_->unpack(receive, part, count);
  if (count != 0) std::memcpy(receive, part, static_cast<std::uint64_t>(count) * element_bytes());
}

// A predefined loop accepts 0 elements; a program's function is not called for them.
void Operands::combine(const void* in, void* inout) const {
  if (!user_) {
    predefined_(in, inout, static_cast<std::size_t>(count_));
  } else if (count_ > 0) {
    user_->combine_in_place(in, inout);
  }
}

}  // namespace margay::mpi
