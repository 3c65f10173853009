// Generalized requests (MPI 4.0, 13.2): the program carries them out and says when they are complete.
#pragma once

#include "mpi_adi/request/own_request.hpp"

namespace margay::mpi_adi {

class GeneralizedRequest final : public OwnRequest {
 public:
  struct Functions {
    MPI_Grequest_query_function* query;
    MPI_Grequest_free_function* free;
    MPI_Grequest_cancel_function* cancel;
    void* extra_state;
  };
  explicit GeneralizedRequest(const Functions& functions) : functions_(functions) {}

  // Asks the program's query function, outside the lock. What it returns, a class or any other number, is
  // the request's error.
  [[nodiscard]] int outcome(MpiRank& rank, MPI_Status* status, std::string& words) override;
  // Then calls its free function.
  [[nodiscard]] int end(MpiRank& rank, MPI_Status* status, std::string& words) override;
  [[nodiscard]] bool errors_are_the_programs() const override { return true; }
  void cancel(MpiRank& rank) override;
  void give_up(MpiRank& rank) override;
  // Freed by the program before it was complete.
  [[nodiscard]] bool given_up() const { return given_up_; }
  // MPI_Grequest_complete. The request may be gone afterwards.
  void completed(MpiRank& rank);

 private:
  int call_free(MpiRank& rank) const;

  Functions functions_;
  bool given_up_ = false;
};

}  // namespace margay::mpi_adi
