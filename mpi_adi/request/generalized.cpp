#include "mpi_adi/request/generalized.hpp"
#include "mpi_adi/device/parts.hpp"

#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/rank/callback.hpp"
#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi_adi {

GeneralizedRequest::GeneralizedRequest(MpiRank& rank, const RequestClass& functions, void* extra_state,
                                       MPIX_Grequest_class group)
    : UpperLayerRequest(kKind), rank_(rank), functions_(functions), extra_state_(extra_state), group_(group) {
  // Counted, because while such requests exist, calls that complete requests must call their functions.
  if (functions_.extended()) ++rank_.tables().extended_requests;
}

GeneralizedRequest::~GeneralizedRequest() {
  if (functions_.extended()) --rank_.tables().extended_requests;
}

// Passes on the error that a function of the program returned, unchanged (MPI 4.0, 13.2).
int GeneralizedRequest::failed(MpiRank& rank, const char* name, int code, std::string& text) {
  if (code == MPI_SUCCESS) return MPI_SUCCESS;
  text = "the generalized request's " + std::string(name) + " function returned " + std::to_string(code);
  const std::string description = rank.errors().is_code(code) ? rank.errors().text_of(code) : std::string();
  if (!description.empty()) text += " (" + description + ")";
  return code;
}

int GeneralizedRequest::outcome(MpiRank& rank, MPI_Status* status, std::string& text) {
  // A separate status, because the query function may write any field.
  MPI_Status from_query{};
  empty_status(&from_query);
  const int code = call_program(rank, [&] { return functions_.call_query(extra_state_, &from_query); });
  const int error = status->MPI_ERROR;  // written by calls that complete several requests
  *status = from_query;
  status->MPI_ERROR = error;
  return failed(rank, "query", code, text);
}

int GeneralizedRequest::end(MpiRank& rank, MPI_Status* status, std::string& text) {
  const int queried = outcome(rank, status, text);
  std::string free_text;
  const int freed = failed(rank, "free", call_free(rank), free_text);
  // The free function runs even if the query failed; the first error is reported.
  if (queried != MPI_SUCCESS) return queried;
  text = std::move(free_text);
  return freed;
}

int GeneralizedRequest::cancel(MpiRank& rank, std::string& text) {
  const int code = call_program(rank, [&] { return functions_.call_cancel(extra_state_, complete); });
  return failed(rank, "cancel", code, text);
}

int GeneralizedRequest::give_up(MpiRank& rank, std::string& text) {
  // If the request is not complete, completed() calls the free function later.
  given_up_ = true;
  if (!complete) return MPI_SUCCESS;
  const int code = failed(rank, "free", call_free(rank), text);
  delete this;
  return code;
}

int GeneralizedRequest::completed(MpiRank& rank, std::string& text) {
  complete = true;
  // Waiting calls compare the number of completions.
  rank.device().record_completion();
  return given_up_ ? give_up(rank, text) : MPI_SUCCESS;
}

int GeneralizedRequest::call_free(MpiRank& rank) const {
  return call_program(rank, [&] { return functions_.call_free(extra_state_); });
}

}  // namespace margay::mpi_adi
