// MPI_Request_free, MPI_Cancel, MPI_Test_cancelled (MPI 4.0, 3.7.3 and 3.8.4).
#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/completion.hpp"

#include "mpi_adi/request/generalized.hpp"

using namespace margay::mpi;

namespace {

// Requires: request->is_of_upper_layer().
UpperLayerRequest* upper_of(Request* request) {
  return static_cast<UpperLayerRequest*>(request);
}

// Ends the call with the code of an upper-layer request. `programs`: a function of the program returned `code`,
// so the call returns it unchanged.
int end(Call& call, bool programs, int code, std::string text) {
  if (code == MPI_SUCCESS) return MPI_SUCCESS;
  if (programs) call.set_error_origin(Call::ErrorOrigin::program);
  call.error(code, std::move(text));
  return call.failed();
}

// A nonblocking collective's request can neither be cancelled nor freed (MPI 4.0, 6.12).
bool is_collective(Request* request) {
  return request != nullptr && request->kind == RequestKind::collective;
}

}  // namespace

extern "C" int PMPI_Request_free(MPI_Request* request) {
  Call call(call_name<"MPI_Request_free">);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  UserRequest* found = call.request(*request);
  if (!call.ok()) return call.failed();
  Request* const device_request = found->device;
  // Persistent collectives and partitioned requests own an object between starts.
  UpperLayerRequest* const kept = found->persistent ? found->upper : nullptr;
  if (is_collective(device_request)) {
    call.error(MPI_ERR_REQUEST, "the request is a nonblocking collective's; it is not freed but completed");
    return call.failed();
  }
  if (kept != nullptr && device_request != nullptr) {
    call.error(MPI_ERR_REQUEST, "the partitioned request is active; wait for it before it is freed");
    return call.failed();
  }
  *request = MPI_REQUEST_NULL;
  // The shared handle of completed sends is never freed.
  if (found->common) return MPI_SUCCESS;
  const bool is_upper = device_request != nullptr && device_request->is_of_upper_layer();
  // A generalized request keeps its handle until MPI_Grequest_complete, which names it.
  const bool awaited = generalized_of(device_request) != nullptr && !device_request->complete;
  if (!awaited) call.rank().handles().free_request(*found);
  // An operation in progress continues; its owner frees it when it is complete.
  if (kept != nullptr) {
    kept->retire();
  } else if (is_upper) {
    std::string text;
    const bool programs = upper_of(device_request)->has_program_errors();
    const int code = upper_of(device_request)->give_up(call.rank(), text);
    return end(call, programs, code, std::move(text));
  } else if (device_request != nullptr) {
    call.device().free(*device_request);
  }
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Request_free)

extern "C" int PMPI_Cancel(MPI_Request* request) {
  Call call(call_name<"MPI_Cancel">);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  UserRequest* found = call.request(*request);
  if (!call.ok()) return call.failed();
  if (!active(found)) {
    call.error(MPI_ERR_REQUEST, "the persistent request is not active, so it cannot be cancelled");
  } else if (is_collective(found->device)) {
    call.error(MPI_ERR_REQUEST, "the request is a nonblocking collective's, which cannot be cancelled");
  }
  if (!call.ok()) return call.failed();
  // First matches the messages that have arrived, because their receives cannot be cancelled any more.
  call.device().progress();
  if (found->device->is_of_upper_layer()) {
    std::string text;
    auto& upper = *upper_of(found->device);
    const int code = upper.cancel(call.rank(), text);
    return end(call, upper.has_program_errors(), code, std::move(text));
  }
  call.device().cancel(*found->device);
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Cancel)

extern "C" int PMPI_Test_cancelled(const MPI_Status* status, int* flag) {
  Call call(call_name<"MPI_Test_cancelled">);
  call.not_null(flag, "flag");
  call.not_null(status, "status");
  if (ignores(status)) call.error(MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE");
  if (call.ok()) *flag = status_cancelled(*status) ? 1 : 0;
  return call.done();
}
MARGAY_ALIAS(Test_cancelled)
