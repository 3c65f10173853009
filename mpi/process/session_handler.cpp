// Error handlers of sessions (MPI 4.0, 9.3.4 and 9.5). A program may create them before any session.
#include "mpi/call/binding.hpp"
#include "mpi/call/early_call.hpp"
#include "mpi/call/session_arguments.hpp"

using namespace margay::mpi;

extern "C" int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
                                              MPI_Errhandler* errhandler) {
  return create_early_handler(call_name<"MPI_Session_create_errhandler">, ObjectType::session,
                              reinterpret_cast<HandlerFunction>(session_errhandler_fn), "session_errhandler_fn",
                              errhandler);
}
MARGAY_ALIAS(Session_create_errhandler)

extern "C" int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler) {
  Call call(call_name<"MPI_Session_set_errhandler">);
  Session* const found = checked_session(call, session);
  const ErrorHandlerPtr handler = checked_handler(call, errhandler, ObjectType::session);
  if (call.ok()) found->raises.error_handler = handler;
  return call.done();
}
MARGAY_ALIAS(Session_set_errhandler)

extern "C" int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* errhandler) {
  Call call(call_name<"MPI_Session_get_errhandler">);
  const Session* const found = checked_session(call, session);
  call.not_null(errhandler, "errhandler");
  if (!call.ok()) return call.failed();
  // A new reference, which MPI_Errhandler_free drops.
  const MPI_Errhandler handed_out = call.rank().tables().error_handlers.hand_out(found->raises.error_handler);
  if (handed_out == MPI_ERRHANDLER_NULL) {
    call.error(MPI_ERR_OTHER, kTooManyHandlers);
  } else {
    *errhandler = handed_out;
  }
  return call.done();
}
MARGAY_ALIAS(Session_get_errhandler)

extern "C" int PMPI_Session_call_errhandler(MPI_Session session, int errorcode) {
  Call call(call_name<"MPI_Session_call_errhandler">);
  const Session* const found = checked_session(call, session);
  if (call.ok() && !call.rank().errors().is_code(errorcode))
    call.error(MPI_ERR_ARG, "errorcode " + std::to_string(errorcode) + " is not an error code");
  if (!call.ok()) return call.failed();
  // MPI_SUCCESS means that the handler was called; `errorcode` is not this call's error.
  call.set_error_origin(Call::ErrorOrigin::program_class);
  call.hand_over(found->raises, errorcode);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Session_call_errhandler)
