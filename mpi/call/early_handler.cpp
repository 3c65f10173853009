#include "mpi/call/early_handler.hpp"

#include "mpi/call/early_call.hpp"
#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi {

int create_early_handler(const Invocation& of, ObjectType object, HandlerFunction function, const char* what,
                         MPI_Errhandler* handler) {
  EarlyCall call(of);
  call.not_null(reinterpret_cast<const void*>(function), what);
  call.not_null(handler, "errhandler");
  if (!call.ok()) return call.failed();
  const MPI_Errhandler made = process_error_handlers().create(object, function);
  if (made == MPI_ERRHANDLER_NULL) {
    call.error(MPI_ERR_OTHER, kTooManyHandlers);
  } else {
    if (call.rank() != nullptr) call.rank()->handles().note_origin(made);
    *handler = made;
  }
  return call.done();
}

int free_early_handler(const Invocation& of, MPI_Errhandler* handler) {
  EarlyCall call(of);
  call.not_null(handler, "errhandler");
  if (!call.ok()) return call.failed();
  const ErrorHandlerPtr found = process_error_handlers().find(*handler);
  if (found == nullptr) {
    call.error(MPI_ERR_ARG, words_of_bad_handler(*handler));
    return call.failed();
  }
  process_error_handlers().free_handle(*found);
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

ErrorHandlerPtr checked_handler(Call& call, MPI_Errhandler handle, ObjectType of) {
  if (!call.ok()) return nullptr;
  ErrorHandlerPtr found = call.rank().tables().error_handlers.find(handle);
  if (found == nullptr) {
    call.error(MPI_ERR_ARG, words_of_bad_handler(handle));
  } else if (found->of != ObjectType::none && found->of != of) {
    const char* const whose = of == ObjectType::session  ? "sessions"
                              : of == ObjectType::file   ? "files"
                              : of == ObjectType::window ? "windows"
                                                         : "communicators";
    call.error(MPI_ERR_ARG, "error handler " + in_hex(handle) + " was not made for " + whose);
    return nullptr;
  }
  return found;
}

std::string words_of_bad_handler(MPI_Errhandler handle) {
  if (handle == MPI_ERRHANDLER_NULL) return "the error handler is MPI_ERRHANDLER_NULL";
  return "error handler " + in_hex(handle) + " is no living handler (freed, or never made)";
}

}  // namespace margay::mpi
