// Error handlers of communicators (MPI 4.0, 9.3; MPI-1's names: 16.1).
#include <string>

#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi_adi/rank/object_tables.hpp"

using namespace margay::mpi;

namespace {

ErrorHandlerPtr find_handler(Call& call, MPI_Errhandler handle) {
  if (!call.ok()) return nullptr;
  ErrorHandlerPtr found = call.rank().tables().error_handlers.find(handle);
  if (found != nullptr) return found;
  call.error(MPI_ERR_ARG, bad_handler_text(handle));
  return nullptr;
}

// The bodies of the bindings, which MPI-1's names share.
int create(Call& call, MPI_Comm_errhandler_function* function, MPI_Errhandler* handler) {
  call.not_null(reinterpret_cast<const void*>(function), "comm_errhandler_fn");
  call.not_null(handler, "errhandler");
  if (!call.ok()) return call.failed();
  const MPI_Errhandler made =
      call.rank().tables().error_handlers.create(ObjectType::communicator, reinterpret_cast<HandlerFunction>(function));
  if (made == MPI_ERRHANDLER_NULL) {
    call.error(MPI_ERR_OTHER, kTooManyHandlers);
  } else {
    call.rank().handles().record_origin(made);
    *handler = made;
  }
  return call.done();
}

int set(Call& call, MPI_Comm comm, MPI_Errhandler handle) {
  Communicator* communicator = call.communicator(comm);
  const ErrorHandlerPtr handler = find_handler(call, handle);
  // Predefined handlers are valid for any object.
  if (handler != nullptr && handler->of != ObjectType::none && handler->of != ObjectType::communicator)
    call.error(MPI_ERR_ARG, "the error handler was not made for communicators");
  // Through Worlds, which records whether the program has set MPI_COMM_SELF's or the world's handler.
  if (call.ok()) call.rank().worlds().set_error_handler(*communicator, handler);
  return call.done();
}

// Returns a new reference, which MPI_Errhandler_free drops. A null handler is MPI_ERRORS_ARE_FATAL.
int get(Call& call, MPI_Comm comm, MPI_Errhandler* handle) {
  const Communicator* communicator = call.communicator(comm);
  call.not_null(handle, "errhandler");
  if (!call.ok()) return call.failed();
  ErrorHandlers& handlers = call.rank().tables().error_handlers;
  const ErrorHandlerPtr& handler = communicator->error_handler;
  const MPI_Errhandler handed_out = handlers.hand_out(handler == nullptr ? handlers.fatal() : handler);
  if (handed_out == MPI_ERRHANDLER_NULL) {
    call.error(MPI_ERR_OTHER, kTooManyHandlers);
  } else {
    *handle = handed_out;
  }
  return call.done();
}

}  // namespace

extern "C" int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn,
                                           MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_Comm_create_errhandler">);
  return create(call, comm_errhandler_fn, errhandler);
}
MARGAY_ALIAS(Comm_create_errhandler)

extern "C" int PMPI_Errhandler_create(MPI_Comm_errhandler_function* comm_errhandler_fn, MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_Errhandler_create">);
  return create(call, comm_errhandler_fn, errhandler);
}
MARGAY_ALIAS(Errhandler_create)

extern "C" int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  Call call(call_name<"MPI_Comm_set_errhandler">);
  return set(call, comm, errhandler);
}
MARGAY_ALIAS(Comm_set_errhandler)

extern "C" int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  Call call(call_name<"MPI_Errhandler_set">);
  return set(call, comm, errhandler);
}
MARGAY_ALIAS(Errhandler_set)

extern "C" int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_Comm_get_errhandler">);
  return get(call, comm, errhandler);
}
MARGAY_ALIAS(Comm_get_errhandler)

extern "C" int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_Errhandler_get">);
  return get(call, comm, errhandler);
}
MARGAY_ALIAS(Errhandler_get)

// Predefined handlers are never freed: only the program's reference to one is dropped.
extern "C" int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
  return free_early_handler(call_name<"MPI_Errhandler_free">, errhandler);
}
MARGAY_ALIAS(Errhandler_free)

extern "C" int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  Call call(call_name<"MPI_Comm_call_errhandler">);
  const Communicator* communicator = call.communicator(comm);
  if (call.ok() && !call.rank().errors().is_code(errorcode))
    call.error(MPI_ERR_ARG, "errorcode " + std::to_string(errorcode) + " is not an error code");
  if (!call.ok()) return call.failed();
  // Leaves the rank first; the handler's code is not this call's result.
  call.set_error_origin(Call::ErrorOrigin::program_class);
  call.hand_over(*communicator, errorcode);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Comm_call_errhandler)
