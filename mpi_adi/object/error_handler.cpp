#include "mpi_adi/object/error_handler.hpp"

#include <utility>

namespace margay::mpi_adi {

MPI_Errhandler named_handler(std::string_view name) {
  // The standard's default (MPI 4.0, 9.3.1).
  if (name.empty() || name == "mpi_errors_are_fatal") return MPI_ERRORS_ARE_FATAL;
  if (name == "mpi_errors_abort") return MPI_ERRORS_ABORT;
  return name == "mpi_errors_return" ? MPI_ERRORS_RETURN : MPI_ERRHANDLER_NULL;
}

ErrorHandlers::ErrorHandlers() {
  for (std::size_t i = 0; i < kPredefined; ++i) {
    predefined_[i] = std::make_shared<ErrorHandler>();
    predefined_[i]->handle = make_handle(HandleKind::builtin, ObjectType::error_handler, static_cast<std::uint32_t>(i));
  }
}

// A handler that the program never freed has a reference to itself (`kept`), which ends here.
ErrorHandlers::~ErrorHandlers() {
  for (ErrorHandler* handler : table_.alive()) {
    const ErrorHandlerPtr last = std::move(handler->kept);
  }
}

ErrorHandlerPtr ErrorHandlers::find(MPI_Errhandler handle) const {
  // Predefined handlers are constant, so they need no lock.
  if (is_builtin(handle)) {
    const bool known = object_type(handle) == ObjectType::error_handler && handle_index(handle) < kPredefined;
    return known ? predefined_[handle_index(handle)] : nullptr;
  }
  const std::lock_guard guard(mutex_);
  const ErrorHandler* found = table_.find(handle);
  return found == nullptr ? nullptr : found->kept;
}

MPI_Errhandler ErrorHandlers::create(ObjectType of, HandlerFunction function) {
  auto made = std::make_shared<ErrorHandler>();
  made->of = of;
  made->function = function;
  return hand_out(made);
}

std::vector<MPI_Errhandler> ErrorHandlers::living() const {
  const std::lock_guard guard(mutex_);
  std::vector<MPI_Errhandler> found;
  for (const ErrorHandler* handler : table_.alive()) found.push_back(handler->handle);
  return found;
}

MPI_Errhandler ErrorHandlers::hand_out(const ErrorHandlerPtr& handler) {
  const std::lock_guard guard(mutex_);
  if (is_builtin(handler->handle)) return handler->handle;
  // The handler has no handle: it is new, or the program freed all handles while objects still use it.
  if (handler->handles == 0) {
    handler->handle = table_.add(*handler);
    if (handler->handle == 0) {
      handler->handle = MPI_ERRHANDLER_NULL;
      return MPI_ERRHANDLER_NULL;
    }
    handler->kept = handler;
  }
  ++handler->handles;
  return handler->handle;
}

void ErrorHandlers::free_handle(ErrorHandler& handler) {
  ErrorHandlerPtr last;  // perhaps the last reference; released after the lock
  const std::lock_guard guard(mutex_);
  if (is_builtin(handler.handle) || --handler.handles > 0) return;
  table_.remove(handler.handle);
  handler.handle = MPI_ERRHANDLER_NULL;
  last = std::move(handler.kept);
}

}  // namespace margay::mpi_adi
