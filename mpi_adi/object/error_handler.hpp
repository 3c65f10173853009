// Error handlers as objects: the four that the ABI fixes, and those that a program makes of its functions (MPI 4.0,
// 9.3). The objects that use one share it; a program's handle to it may be freed earlier.
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

// A user's function, whatever its first argument points to; cast back by whoever calls it.
using HandlerFunction = void (*)();

// Passive.
struct ErrorHandler {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;  // null: the program holds none
  ObjectType of = ObjectType::none;             // whose errors it takes; none: anybody's (predefined)
  HandlerFunction function = nullptr;           // null: predefined, and `handle` says which
  CxxErrorHandler cxx_caller = nullptr;         // `function` is C++'s: called by this
  std::uint32_t handles = 0;                    // how often the program has yet to free it; predefined: 0
  std::shared_ptr<ErrorHandler> kept;           // itself, while handles > 0
};
using ErrorHandlerPtr = std::shared_ptr<ErrorHandler>;

// The handler that a run's option (`margay run --initial-errhandler`, MPI 4.0, 9.3.1 and 11.5) names, in the standard's
// words: MPI_ERRORS_ARE_FATAL without a name, MPI_ERRHANDLER_NULL of a name that is none.
[[nodiscard]] MPI_Errhandler named_handler(std::string_view name);

// One process's.
class ErrorHandlers {
 public:
  ErrorHandlers();
  ~ErrorHandlers();
  ErrorHandlers(const ErrorHandlers&) = delete;
  ErrorHandlers& operator=(const ErrorHandlers&) = delete;

  // MPI_ERRORS_ARE_FATAL, which the first communicators have.
  [[nodiscard]] const ErrorHandlerPtr& fatal() const { return predefined_[0]; }
  // All below from any thread.
  // nullptr: no living handler.
  [[nodiscard]] ErrorHandlerPtr find(MPI_Errhandler handle) const;
  // A new one, with one handle to be freed. MPI_ERRHANDLER_NULL: the table is full.
  [[nodiscard]] MPI_Errhandler create(ObjectType of, HandlerFunction function);
  // A handle to `handler` that the program will free (MPI_Comm_get_errhandler). MPI_ERRHANDLER_NULL: the table is full.
  [[nodiscard]] MPI_Errhandler hand_out(const ErrorHandlerPtr& handler);
  // Those that the program has handles of, the predefined ones aside.
  [[nodiscard]] std::vector<MPI_Errhandler> living() const;
  // The program gives one handle back. The handler lives on where it is attached.
  void free_handle(ErrorHandler& handler);

 private:
  static constexpr std::size_t kPredefined = 4;
  std::array<ErrorHandlerPtr, kPredefined> predefined_;
  mutable std::mutex mutex_;  // of the table, and of the handlers' handles
  HandleTable<ErrorHandler> table_{ObjectType::error_handler};
};

}  // namespace margay::mpi_adi
