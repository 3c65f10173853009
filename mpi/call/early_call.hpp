// A call that needs no rank: valid at any time, also before MPI_Init and after MPI_Finalize, and from any thread at any
// level (MPI 4.0, 11.4.1). In the thread that initialized MPI, an early call is a Call. In another thread it stays
// outside the rank, and uses only data with locks of their own. It therefore neither waits for a call in progress nor
// delays that call, the end of MPI or a change to a higher thread level; it is not traced. Its errors go to the handler
// for errors without an object; while MPI does not run, the initial error handler decides (MPI 4.0, 9.3).
#pragma once

#include <optional>
#include <string>

#include "mpi/call/call.hpp"
#include "mpi/layers.hpp"

namespace margay::mpi {

// One such call, on the binding's stack.
class EarlyCall {
 public:
  // Becomes a Call in the rank's thread while MPI runs.
  explicit EarlyCall(const Invocation& of);
  EarlyCall(const EarlyCall&) = delete;
  EarlyCall& operator=(const EarlyCall&) = delete;
  ~EarlyCall() { leave(); }

  // The rank; null if MPI did not run when the call began. Only for members that any thread may use.
  [[nodiscard]] MpiRank* rank() { return rank_; }
  // Whether no error is set. The functions below work as those of Call: only the first error is kept.
  [[nodiscard]] bool ok() const { return call_ ? call_->ok() : error_class_ == MPI_SUCCESS; }
  void not_null(const void* address, const char* what) {
    if (address == nullptr) error(MPI_ERR_ARG, std::string(what) + " is a null pointer");
  }
  void error(int error_class, std::string sentence);
  // Raises the error; returns the code as the handler leaves it, or ends the process. While MPI does not run, no
  // handler is called: the class is returned if MARGAY_INITIAL_ERRHANDLER selects MPI_ERRORS_RETURN; otherwise the
  // message is printed and the process ends with status 1.
  [[nodiscard]] int failed();
  [[nodiscard]] int done() { return ok() ? MPI_SUCCESS : failed(); }

 private:
  void leave();

  const CallName& name_;
  MpiRank* const rank_;  // read once, as another thread may end MPI; stays valid until the process exits
  // Set in the thread that initialized MPI; empty: the call stays outside the rank.
  std::optional<Call> call_;
  Origins* origins_ = nullptr;     // outside the rank: records this call as the creator of objects
  int error_class_ = MPI_SUCCESS;  // of a call outside the rank
  std::string sentence_;
};

// A whole call, which raises MPI_ERR_ARG because its argument `what` is a null pointer.
[[nodiscard]] int null_argument(const Invocation& of, const char* what);

// Creation and release of error handlers, at any time, by any thread (MPI 4.0, 11.4.1).

// Each is a whole call, and returns what its binding returns. `what`: the argument's name. `object`: the type of
// objects to which the handler may be attached. A null pointer or an invalid handle is MPI_ERR_ARG, a full table
// MPI_ERR_OTHER. Freeing drops the program's reference only: objects keep the handler.
[[nodiscard]] int create_early_handler(const Invocation& of, ObjectType object, HandlerFunction function,
                                       const char* what, MPI_Errhandler* handler);
[[nodiscard]] int free_early_handler(const Invocation& of, MPI_Errhandler* handler);

// The handler to attach to an object of type `of`; nullptr, with MPI_ERR_ARG set, if the handle is invalid or the
// handler was made for another type. Predefined handlers are valid for every type.
[[nodiscard]] ErrorHandlerPtr checked_handler(Call& call, MPI_Errhandler handle, ObjectType of);

// Messages for a full table, and for an invalid handle.
inline constexpr char kTooManyHandlers[] = "too many error handlers are alive (2^18); free some first";
[[nodiscard]] std::string bad_handler_text(MPI_Errhandler handle);

}  // namespace margay::mpi
