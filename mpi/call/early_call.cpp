#include "mpi/call/early_call.hpp"

#include <cstdlib>
#include <utility>

#include "mpi/call/fatal_error.hpp"
#include "mpi_adi/object/error_class.hpp"
#include "mpi_adi/object/error_handler.hpp"
#include "mpi_adi/rank/object_tables.hpp"
#include "mpi_adi/rank/origins.hpp"
#include "sim/base/source_lines.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi {

EarlyCall::EarlyCall(const Invocation& of) : name_(of.name), rank_(current_rank()) {
  if (rank_ == nullptr) return;
  // The thread that initialized MPI may enter the rank at every thread level. Other threads may only with
  // MPI_THREAD_MULTIPLE, so they stay outside at every level.
  if (is_rank_thread()) {
    call_.emplace(of, *rank_);
  } else if (origins_ = rank_->handles().origins(); origins_ != nullptr) [[unlikely]] {
    origins_->enter(name_.text, rank_->process().source_lines().skip_bindings(of.caller));
  }
}

// Ends this call's role as the creator of objects, once.
void EarlyCall::leave() {
  if (origins_ != nullptr) [[unlikely]]
    origins_->leave();
  origins_ = nullptr;
}

void EarlyCall::error(int error_class, std::string sentence) {
  if (!ok()) return;
  if (call_) {
    call_->error(error_class, std::move(sentence));
    return;
  }
  error_class_ = error_class;
  sentence_ = std::move(sentence);
}

// Three cases: the rank's thread, another thread, and a call while MPI does not run.
int EarlyCall::failed() {
  if (call_) return call_->failed();
  leave();  // before the handler, which may never return
  // Outside the rank, because this thread may not enter it.
  if (rank_ != nullptr) return raise_outside(*rank_, name_, error_class_, sentence_);
  // Without a rank there are no options, so the variable is read directly.
  const char* const initial = std::getenv("MARGAY_INITIAL_ERRHANDLER");
  if (named_handler(initial != nullptr ? initial : "") == MPI_ERRORS_RETURN) return error_class_;
  exit_by_error(name_, finding_of_error(error_class_),
                "failed while MPI does not run: " + std::string(error_class_name(error_class_)) + ": " + sentence_);
}

int null_argument(const Invocation& of, const char* what) {
  EarlyCall call(of);
  call.not_null(nullptr, what);
  return call.failed();
}

int create_early_handler(const Invocation& of, ObjectType object, HandlerFunction function, const char* what,
                         MPI_Errhandler* handler) {
  EarlyCall call(of);
  call.not_null(reinterpret_cast<const void*>(function), what);
  call.not_null(handler, "errhandler");
  if (!call.ok()) return call.failed();
  // The process owns handlers, because programs may make them before MPI_Init.
  const MPI_Errhandler made = process_error_handlers().create(object, function);
  if (made == MPI_ERRHANDLER_NULL) {
    call.error(MPI_ERR_OTHER, kTooManyHandlers);
  } else {
    if (call.rank() != nullptr) call.rank()->handles().record_origin(made);
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
    call.error(MPI_ERR_ARG, bad_handler_text(*handler));
    return call.failed();
  }
  // Objects that have the handler keep it; only the program's handle is freed.
  process_error_handlers().free_handle(*found);
  *handler = MPI_ERRHANDLER_NULL;
  return MPI_SUCCESS;
}

// Predefined handlers, whose object type is none, are valid for objects of every type.
ErrorHandlerPtr checked_handler(Call& call, MPI_Errhandler handle, ObjectType of) {
  if (!call.ok()) return nullptr;
  ErrorHandlerPtr found = call.rank().tables().error_handlers.find(handle);
  if (found == nullptr) {
    call.error(MPI_ERR_ARG, bad_handler_text(handle));
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

std::string bad_handler_text(MPI_Errhandler handle) {
  if (handle == MPI_ERRHANDLER_NULL) return "the error handler is MPI_ERRHANDLER_NULL";
  return "error handler " + in_hex(handle) + " is not a valid handler (freed, or never created)";
}

}  // namespace margay::mpi
