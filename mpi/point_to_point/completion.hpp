// Completion of requests: the common part of MPI_Wait, MPI_Test and their variants (MPI 4.0, 3.7.3 to 3.7.5).
#pragma once

#include "mpi/call/call.hpp"
#include "mpi/external/extended.hpp"
#include "mpi_adi/abi/status.hpp"
#include "mpi_adi/device/request.hpp"
#include "mpi_adi/rank/failure.hpp"

namespace margay::mpi {

// Fills the status of a complete request. Leaves MPI_ERROR alone: only calls with an array of statuses set it.
inline void status_of(const Request& request, MPI_Status* status) {
  if (ignores(status)) return;
  if (request.kind == RequestKind::receive) {
    fill_status(status, request.source, request.tag, request.bytes);
  } else {
    empty_status(status);
  }
  set_status_cancelled(*status, request.cancelled);
}
// Sets the call's error to that of a complete request. Requires: the request has failed.
[[gnu::noinline]] void fail_by(Call& call, const Request& request);
// Writes the status of a complete request, passes its error to the call, and frees the request. For requests of
// blocking calls, which have no handle.
inline void finish_device_request(Call& call, Request& request, MPI_Status* status) {
  status_of(request, status);
  if (request.error_class != MPI_SUCCESS) fail_by(call, request);
  call.device().free(request);
}

// Whether there is something to wait for: neither null nor an inactive persistent request.
[[nodiscard]] inline bool active(const UserRequest* request) {
  return request != nullptr && request->device != nullptr;
}
// Whether an active request is complete. Requires: active().
[[nodiscard]] inline bool complete(const UserRequest& request) {
  return request.device->complete;
}

// Ends an active, complete request, and returns its error class. A persistent request becomes inactive; any other is
// freed, and its handle becomes MPI_REQUEST_NULL. `text`: the message of an error; unchanged without one. The call's
// own error is not set, because MPI_Waitall reports one class for each status.
[[nodiscard]] int end_request(Call& call, UserRequest& request, MPI_Request* handle, MPI_Status* status,
                              std::string& text);
// The same in a call that ends one request only: its error becomes the call's.
void end_only_request(Call& call, UserRequest& request, MPI_Request* handle, MPI_Status* status);

// The requests of one call, looked up once. Null handles give nullptr; an invalid one sets the call's error
// (MPI_ERR_REQUEST). Lives on the stack of its call. Up to 64 requests are held without allocation.
class RequestArray {
 public:
  // Looks up `count` handles of the program; sets the call's error if one is invalid. `handles` outlives it.
  RequestArray(Call& call, int count, MPI_Request* handles);
  ~RequestArray();
  RequestArray(const RequestArray&) = delete;
  RequestArray& operator=(const RequestArray&) = delete;

  // The array's length, and its requests by index; nullptr for a null handle.
  [[nodiscard]] int size() const { return count_; }
  [[nodiscard]] Requests all() const { return {requests_, static_cast<std::size_t>(count_)}; }
  [[nodiscard]] UserRequest* operator[](int i) const { return requests_[i]; }
  // Whether there is anything to wait for.
  [[nodiscard]] bool any_active() const;
  // Whether every active request is complete.
  [[nodiscard]] bool all_complete() const;
  // The number of messages that a round of progress takes from each wire before all_complete() is tested again: one for
  // each request, at most kMessagesInTurn.
  [[nodiscard]] int messages_in_turn() const { return count_ < kMessagesInTurn ? count_ : kMessagesInTurn; }
  // The same for MPI_Waitsome and MPI_Testsome: one for each request, and at least Device::kMessagesPerLook, because
  // the cost of any_complete()'s scan grows with the array.
  [[nodiscard]] int messages_in_look() const {
    return count_ > Device::kMessagesPerLook ? count_ : Device::kMessagesPerLook;
  }
  // Whether a request of the array is active and complete. Scans the array only if some request has completed since the
  // last scan that found none.
  [[nodiscard]] bool any_complete();
  // The index of the first active, complete request from `from` on; size() if there is none.
  [[nodiscard]] int first_complete(int from = 0) const;
  // Ends request i if it is a send or receive that succeeded. Returns false, without an effect, if it failed or is a
  // request of mpi_adi/request; end() handles these.
  [[nodiscard]] bool end_well(int i, MPI_Status* status);
  // Ends request i, failed or not; see end_request().
  [[nodiscard]] int end(int i, MPI_Status* status, std::string& text);
  // Ends request i as the only one of the call.
  void end_only(int i, MPI_Status* status);

 private:
  // Requests in the object itself; longer rows allocate.
  static constexpr int kInline = 64;
  // A count that the device never reaches, so the first any_complete() scans.
  static constexpr std::uint64_t kNeverLooked = ~std::uint64_t{0};
  // Messages between two scans of the array, so that a scan and the start of a round are paid once for many messages.
  static constexpr int kMessagesInTurn = 16;
  Call& call_;
  MPI_Request* handles_;
  int count_;
  std::uint64_t completions_seen_ = kNeverLooked;  // the device's count when any_complete() last found none
  // All requests before it are complete or inactive, so all_complete() visits each request about once.
  mutable int unfinished_from_ = 0;
  // inline_, or an array of its own for longer rows.
  UserRequest** requests_;
  UserRequest* inline_[kInline];
};

// Whether statuses get MPI_ERROR even if no request failed. By the standard they do not (MPI 4.0, 3.2.5), but MPICH's
// MPI_Waitall writes the field, and programs read it.
enum class ErrorFields : std::uint8_t { always, failed };
// Ends all requests of an array. Requires: requests.all_complete(). Returns MPI_SUCCESS; or, if a request failed,
// writes each request's error class to its status and raises MPI_ERR_IN_STATUS. `statuses` may be MPI_STATUSES_IGNORE.
[[nodiscard]] int end_all(Call& call, RequestArray& requests, MPI_Status* statuses, ErrorFields fields);
// A round of progress before the first scan of MPI_Waitsome and MPI_Testsome. Without it, a program that always has a
// complete request would never wait, so its other messages would not be received.
inline void make_progress(Call& call, const RequestArray& requests) {
  static_cast<void>(call.device().progress(requests.messages_in_look()));
}
// Ends all complete requests of an array, in order, so that none starves. Errors and `statuses` as for end_all().
// `outcount` gets their number, `indices` their indices in the array.
[[nodiscard]] int end_some(Call& call, RequestArray& requests, int* outcount, int* indices, MPI_Status* statuses);

}  // namespace margay::mpi
