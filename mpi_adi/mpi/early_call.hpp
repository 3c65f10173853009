// A call that needs no rank, so that it may also come before MPI_Init and after MPI_Finalize (MPI 4.0, 11.4.1): between
// them it is a Call; outside, an error ends the process or is returned, as the initial error handler says
// (MPI 4.0, 9.3).
#pragma once

#include <optional>
#include <string>

#include "mpi_adi/mpi/call.hpp"

namespace margay::mpi_adi {

class EarlyCall {
 public:
  explicit EarlyCall(const CallName& name) : name_(name) {
    // Asked once: another thread may end MPI meanwhile. The rank stays until the process exits.
    if (MpiRank* const rank = current_rank(); rank != nullptr) call_.emplace(name, *rank);
  }
  EarlyCall(const EarlyCall&) = delete;
  EarlyCall& operator=(const EarlyCall&) = delete;
  ~EarlyCall() = default;

  // nullptr: MPI does not run.
  [[nodiscard]] MpiRank* rank() { return call_ ? &call_->rank() : nullptr; }
  [[nodiscard]] bool ok() const { return call_ ? call_->ok() : error_class_ == MPI_SUCCESS; }
  void not_null(const void* address, const char* what) {
    if (address == nullptr) error(MPI_ERR_ARG, std::string(what) + " is a null pointer");
  }
  void error(int error_class, std::string sentence);
  [[nodiscard]] int failed();
  [[nodiscard]] int done() { return ok() ? MPI_SUCCESS : failed(); }

 private:
  const CallName& name_;
  std::optional<Call> call_;
  int error_class_ = MPI_SUCCESS;  // without a rank
  std::string sentence_;
};

// The whole of a call whose argument `what` is a null pointer.
[[nodiscard]] int null_argument(const CallName& name, const char* what);

}  // namespace margay::mpi_adi
