// Error handlers: four that the ABI fixes, and others that a program makes from its functions (MPI 4.0, 9.3). The
// objects that use a handler share it; the program's handle may be freed earlier.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "mpi_adi/abi/handles.hpp"
#include "mpi_adi/object/handle_table.hpp"
#include "mpi_adi/object/user_functions.hpp"

namespace margay::mpi_adi {

// A function of the program for any kind of object. The caller casts it back to its type.
using HandlerFunction = void (*)();

// An error handler, as data. The mutex of ErrorHandlers guards `handle`, `handles` and `kept`; the other fields are
// constant.
struct ErrorHandler {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;  // MPI_ERRHANDLER_NULL: the program has no handle
  ObjectType of = ObjectType::none;             // the kind of object whose errors it takes; none: any (predefined)
  HandlerFunction function = nullptr;           // nullptr: predefined, identified by `handle`
  CxxErrorHandler cxx_caller = nullptr;         // if set, `function` is C++'s, and this calls it
  std::uint32_t handles = 0;                    // how often the program has yet to free the handle; predefined: 0
  std::shared_ptr<ErrorHandler> kept;           // itself, while handles > 0
};
using ErrorHandlerPtr = std::shared_ptr<ErrorHandler>;

// The handler of this name, for the run's option (`margay run --initial-errhandler`, MPI 4.0, 9.3.1 and 11.5). An empty
// name gives MPI_ERRORS_ARE_FATAL, an unknown name MPI_ERRHANDLER_NULL.
[[nodiscard]] MPI_Errhandler named_handler(std::string_view name);

// The error handlers of one process.
class ErrorHandlers {
 public:
  ErrorHandlers();
  ~ErrorHandlers();
  ErrorHandlers(const ErrorHandlers&) = delete;
  ErrorHandlers& operator=(const ErrorHandlers&) = delete;

  // MPI_ERRORS_ARE_FATAL, the handler of the first communicators.
  [[nodiscard]] const ErrorHandlerPtr& fatal() const { return predefined_[0]; }
  // The handler of a handle, or nullptr. Any thread may call this function and those below, at any time (MPI 4.0,
  // 11.4.1).
  [[nodiscard]] ErrorHandlerPtr find(MPI_Errhandler handle) const;
  // Makes a handler with one handle, which the program frees. MPI_ERRHANDLER_NULL: the table is full.
  [[nodiscard]] MPI_Errhandler create(ObjectType of, HandlerFunction function);
  // Returns a handle to `handler`, which the program frees (MPI_Comm_get_errhandler). MPI_ERRHANDLER_NULL: the table is
  // full.
  [[nodiscard]] MPI_Errhandler hand_out(const ErrorHandlerPtr& handler);
  // Handles that the program has not freed, without the predefined handles.
  [[nodiscard]] std::vector<MPI_Errhandler> living() const;
  // Frees one handle. The handler lives while objects use it.
  void free_handle(ErrorHandler& handler);

 private:
  static constexpr std::size_t kPredefined = 4;
  // Indexed by the index in their handles; constant after construction.
  std::array<ErrorHandlerPtr, kPredefined> predefined_;
  mutable std::mutex mutex_;  // guards the table and the handlers' handles
  HandleTable<ErrorHandler> table_{ObjectType::error_handler};
};

}  // namespace margay::mpi_adi
