// Completion of requests: the common part of MPI_Wait, MPI_Test and their families (MPI 4.0, 3.7.3 to 3.7.5).
#pragma once

#include "mpi/call/call.hpp"
#include "mpi/external/extended.hpp"
#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/device/request.hpp"
#include "mpi_adi/rank/failure.hpp"

namespace margay::mpi {

// The status of a complete request. Leaves MPI_ERROR alone.
inline void status_of(const Request& request, MPI_Status* status) {
  if (ignores(status)) return;
  if (request.kind == RequestKind::receive) {
    fill_status(status, request.source, request.tag, request.bytes);
  } else {
    empty_status(status);
  }
  set_status_cancelled(*status, request.cancelled);
}
// Takes a complete request's status and error into the call, and gives the request back.
inline void finish_device_request(Call& call, Request& request, MPI_Status* status) {
  status_of(request, status);
  if (request.error_class != MPI_SUCCESS) call.error(request.error_class, words_of_failure(call.rank(), request));
  call.device().free(request);
}

// Neither null nor an inactive persistent request: something to wait for.
[[nodiscard]] inline bool active(const UserRequest* request) {
  return request != nullptr && request->device != nullptr;
}
[[nodiscard]] inline bool complete(const UserRequest& request) {
  return request.device->complete;
}

// Ends an active, complete request: status, error class returned. A persistent one becomes inactive, another one is
// gone and its handle MPI_REQUEST_NULL.
// `words`: why it failed; untouched when it did not.
[[nodiscard]] int end_request(Call& call, UserRequest& request, MPI_Request* handle, MPI_Status* status,
                              std::string& words);
// The same, for the call that ends one request only: its error is the call's.
void end_only_request(Call& call, UserRequest& request, MPI_Request* handle, MPI_Status* status);

// A row of requests, looked up once per call. Null handles give nullptr; an invalid one notes an error.
class RequestRow {
 public:
  RequestRow(Call& call, int count, MPI_Request* handles);
  ~RequestRow();
  RequestRow(const RequestRow&) = delete;
  RequestRow& operator=(const RequestRow&) = delete;

  [[nodiscard]] int size() const { return count_; }
  [[nodiscard]] Requests all() const { return {row_, static_cast<std::size_t>(count_)}; }
  [[nodiscard]] UserRequest* operator[](int i) const { return row_[i]; }
  [[nodiscard]] bool any_active() const;
  [[nodiscard]] bool all_complete() const;
  // How many messages all_complete() may be waiting for; at most kMessagesInTurn.
  [[nodiscard]] int messages_in_turn() const { return count_ < kMessagesInTurn ? count_ : kMessagesInTurn; }
  // How many messages a look at any of them takes: a row's look costs what the row is long, so it should find as much.
  [[nodiscard]] int messages_in_look() const {
    return count_ > Device::kMessagesPerLook ? count_ : Device::kMessagesPerLook;
  }
  // Whether one is active and complete. Looks at the row only if some request became complete since it last did.
  [[nodiscard]] bool any_complete();
  // The first active, complete request at or after `from`; size() when none.
  [[nodiscard]] int first_complete(int from = 0) const;
  // Ends request i, unless it failed: then false, and nothing happened.
  [[nodiscard]] bool end_well(int i, MPI_Status* status);
  // Ends request i.
  [[nodiscard]] int end(int i, MPI_Status* status, std::string& words);
  // Ends request i as the call's only one.
  void end_only(int i, MPI_Status* status);

 private:
  static constexpr int kInline = 64;
  static constexpr std::uint64_t kNeverLooked = ~std::uint64_t{0};
  // Between two looks at the row, so that a look and a round's beginning are paid once for many messages.
  static constexpr int kMessagesInTurn = 16;
  Call& call_;
  MPI_Request* handles_;
  int count_;
  std::uint64_t completions_seen_ = kNeverLooked;  // when any_complete() found none
  mutable int unfinished_from_ = 0;  // all before it are complete: all_complete() looks at each request about once
  UserRequest** row_;
  UserRequest* inline_[kInline];
};

// Whether statuses get MPI_ERROR although no request failed. The standard says no (MPI 4.0, 3.2.5); MPICH's MPI_Waitall
// writes it, and programs read it.
enum class ErrorFields : std::uint8_t { always, failed };
// Ends every request of a row that is all complete. Errors: MPI_ERR_IN_STATUS, with each status's own.
[[nodiscard]] int end_all(Call& call, RequestRow& row, MPI_Status* statuses, ErrorFields fields);
// Before the first look of MPI_Waitsome and MPI_Testsome: a request that is complete whenever it is asked for must not
// keep the others' messages from coming in.
inline void look_around(Call& call, const RequestRow& row) {
  static_cast<void>(call.device().progress(row.messages_in_look()));
}
// Ends every complete request of a row, in order, so that none starves. `statuses` as above.
[[nodiscard]] int end_some(Call& call, RequestRow& row, int* outcount, int* indices, MPI_Status* statuses);

}  // namespace margay::mpi
