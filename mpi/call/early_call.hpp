// A call that needs no rank, so that it may come at any time, before MPI_Init and after MPI_Finalize too, and from any
// thread, whatever MPI's level is (MPI 4.0, 11.4.1). In the thread that initialized MPI it is a Call. Elsewhere it
// stays outside the rank: what it uses has a lock of its own, and it neither waits for a call that is under way nor is
// in its way, nor in that of MPI's end or of a higher level; it is in no trace; its errors go to the same handler, or,
// while MPI does not run, as the initial one says (MPI 4.0, 9.3).
#pragma once

#include <optional>
#include <string>

#include "mpi/call/call.hpp"
#include "mpi/layers.hpp"

namespace margay::mpi {

class EarlyCall {
 public:
  explicit EarlyCall(const Invocation& of);
  EarlyCall(const EarlyCall&) = delete;
  EarlyCall& operator=(const EarlyCall&) = delete;
  ~EarlyCall() { leave(); }

  // nullptr: MPI did not run when the call began. For what any thread may ask of it.
  [[nodiscard]] MpiRank* rank() { return rank_; }
  [[nodiscard]] bool ok() const { return call_ ? call_->ok() : error_class_ == MPI_SUCCESS; }
  void not_null(const void* address, const char* what) {
    if (address == nullptr) error(MPI_ERR_ARG, std::string(what) + " is a null pointer");
  }
  void error(int error_class, std::string sentence);
  [[nodiscard]] int failed();
  [[nodiscard]] int done() { return ok() ? MPI_SUCCESS : failed(); }

 private:
  void leave();

  const CallName& name_;
  MpiRank* const rank_;  // asked once: another thread may end MPI meanwhile. It stays until the process exits.
  std::optional<Call> call_;
  Origins* noted_ = nullptr;       // outside the rank: where it is noted as the maker of what it makes
  int error_class_ = MPI_SUCCESS;  // without a Call
  std::string sentence_;
};

// The whole of a call whose argument `what` is a null pointer.
[[nodiscard]] int null_argument(const Invocation& of, const char* what);

// Error handlers made and freed at any time, by any thread (MPI 4.0, 11.4.1).

// Each is a whole call.
[[nodiscard]] int create_early_handler(const Invocation& of, ObjectType object, HandlerFunction function,
                                       const char* what, MPI_Errhandler* handler);
[[nodiscard]] int free_early_handler(const Invocation& of, MPI_Errhandler* handler);

// The handler that is to be attached to an object of `of`; nullptr after an error.
[[nodiscard]] ErrorHandlerPtr checked_handler(Call& call, MPI_Errhandler handle, ObjectType of);

// What to say of a full table, and of a handle that names none.
inline constexpr char kTooManyHandlers[] = "too many error handlers are alive (2^18); free some first";
[[nodiscard]] std::string words_of_bad_handler(MPI_Errhandler handle);

}  // namespace margay::mpi
