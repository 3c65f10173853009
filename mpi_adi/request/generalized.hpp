// Generalized requests (MPI 4.0, 13.2): operations that the program performs, and reports as complete. With MPICH's
// extension, further functions let a waiting call drive the operation.
#pragma once

#include "mpi_adi/object/user_functions.hpp"
#include "mpi_adi/request/upper_layer_request.hpp"

namespace margay::mpi_adi {

// A generalized request. The program's handle owns it. After give_up() it deletes itself when it completes. Under the
// process lock, except while a function of the program runs.
class GeneralizedRequest final : public UpperLayerRequest {
 public:
  static constexpr RequestKind kKind = RequestKind::generalized;
  // `group`: the handle of the request's class; 0: it has none. `extra_state`: passed to each function.
  GeneralizedRequest(MpiRank& rank, const RequestClass& functions, void* extra_state, MPIX_Grequest_class group = 0);
  ~GeneralizedRequest() override;

  // Calls the program's query function, outside the lock, for the status. The function's return value, an error class
  // or any other number, is the request's error.
  [[nodiscard]] int outcome(MpiRank& rank, MPI_Status* status, std::string& text) override;
  // The same, and then the free function.
  [[nodiscard]] int end(MpiRank& rank, MPI_Status* status, std::string& text) override;
  // MPI's rule for errors of the program's functions: they are returned unchanged (MPI 4.0, 13.2).
  [[nodiscard]] bool has_program_errors() const override { return true; }
  // Calls the program's cancel function, which decides whether anything is cancelled.
  [[nodiscard]] int cancel(MpiRank& rank, std::string& text) override;
  [[nodiscard]] int give_up(MpiRank& rank, std::string& text) override;
  // Whether the program freed it before it was complete.
  [[nodiscard]] bool given_up() const { return given_up_; }
  // MPI_Grequest_complete. If the program has freed the request before, deletes it and returns as give_up() does.
  [[nodiscard]] int completed(MpiRank& rank, std::string& text);

  // Marks the functions as Fortran's. Requires: none was called yet.
  void set_fortran() { functions_.fortran = true; }

  // The functions of the program, with their calling convention (C or Fortran).
  [[nodiscard]] const RequestClass& functions() const { return functions_; }
  [[nodiscard]] void* extra_state() const { return extra_state_; }
  // Requests of one class may be waited for together, by the class's wait function.
  [[nodiscard]] MPIX_Grequest_class group() const { return group_; }
  // The error of a function `name` that returned `code`; `text` describes it.
  [[nodiscard]] static int failed(MpiRank& rank, const char* name, int code, std::string& text);

 private:
  // Calls the program's free function, outside the lock, and returns its result.
  int call_free(MpiRank& rank) const;

  MpiRank& rank_;
  RequestClass functions_;
  void* extra_state_;
  MPIX_Grequest_class group_;
  // Set by give_up(); completed() then ends the request.
  bool given_up_ = false;
};

// `any_request` as a generalized request; nullptr if it is a request of another kind.
[[nodiscard]] inline GeneralizedRequest* generalized_of(Request* any_request) {
  const bool is = any_request != nullptr && any_request->kind == GeneralizedRequest::kKind;
  return is ? static_cast<GeneralizedRequest*>(any_request) : nullptr;
}

}  // namespace margay::mpi_adi
