// Operations of programs (MPI 4.0, 6.9.5).
#include <memory>

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi_adi/op/operation.hpp"

using namespace margay::mpi;

namespace {

using UserOperation = margay::mpi_adi::Operation;

// Both forms of MPI_Op_create.
int create(Call& call, std::unique_ptr<UserOperation> operation, MPI_Op* handle) {
  // The form of the call determines which of the two functions is set.
  if (operation->function == nullptr && operation->function_c == nullptr) {
    call.error(MPI_ERR_ARG, "user_fn is a null pointer");
  }
  call.not_null(handle, "op");
  if (!call.ok()) return call.failed();
  operation->handle = call.rank().handles().operations().add(*operation);
  if (operation->handle == 0) {
    call.error(MPI_ERR_OTHER, "too many operations are alive (2^18); free some first");
    return call.failed();
  }
  call.rank().handles().record_origin(operation->handle);
  *handle = operation.release()->handle;  // owned by the table until MPI_Op_free or the end of MPI
  return call.done();
}

// The program's operation behind a handle; nullptr, with the error set, if there is none.
UserOperation* find(Call& call, MPI_Op op) {
  if (!call.ok()) return nullptr;
  UserOperation* const found = call.rank().handles().operations().find(op);
  if (found == nullptr) {
    call.error(MPI_ERR_OP, op == MPI_OP_NULL
                               ? "the operation is MPI_OP_NULL"
                               : operation_text(op) + " is not a valid operation (freed, or never created)");
  }
  return found;
}

}  // namespace

extern "C" int PMPI_Op_create(MPI_User_function* user_fn, int commute, MPI_Op* op) {
  Call call(call_name<"MPI_Op_create">);
  auto operation = std::make_unique<UserOperation>();
  operation->function = user_fn;
  operation->commutative = commute != 0;
  return create(call, std::move(operation), op);
}
MARGAY_ALIAS(Op_create)

extern "C" int PMPI_Op_create_c(MPI_User_function_c* user_fn, int commute, MPI_Op* op) {
  Call call(call_name<"MPI_Op_create_c">);
  auto operation = std::make_unique<UserOperation>();
  operation->function_c = user_fn;
  operation->commutative = commute != 0;
  return create(call, std::move(operation), op);
}
MARGAY_ALIAS(Op_create_c)

extern "C" int PMPI_Op_free(MPI_Op* op) {
  Call call(call_name<"MPI_Op_free">);
  call.not_null(op, "op");
  if (call.ok() && is_predefined_op(*op)) {
    call.error(MPI_ERR_OP, "operation " + operation_text(*op) + " is predefined and cannot be freed");
  }
  UserOperation* const found = call.ok() ? find(call, *op) : nullptr;
  if (!call.ok()) return call.failed();
  // A reduction in progress has a copy of it.
  call.rank().handles().operations().remove(found->handle);
  delete found;
  *op = MPI_OP_NULL;
  return call.done();
}
MARGAY_ALIAS(Op_free)

extern "C" int PMPI_Op_commutative(MPI_Op op, int* commute) {
  Call call(call_name<"MPI_Op_commutative">);
  call.not_null(commute, "commute");
  const bool predefined = is_predefined_op(op);
  const UserOperation* const found = predefined ? nullptr : find(call, op);
  if (!call.ok()) return call.failed();
  // MPI_REPLACE keeps the last value and MPI_NO_OP the first, so neither commutes.
  *commute = (predefined ? op != MPI_REPLACE && op != MPI_NO_OP : found->commutative) ? 1 : 0;
  return call.done();
}
MARGAY_ALIAS(Op_commutative)
