// MPI_Test and its variants (MPI 4.0, 3.7.3 and 3.7.5). Each runs one round of progress if nothing is complete yet.
#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/completion.hpp"
#include "mpi_adi/request/upper_layer_request.hpp"

using namespace margay::mpi;

namespace {

void poll(Call& call, UserRequest* one) {
  poll_extended(call, Requests(&one, 1));
}
void poll(Call& call, const RequestArray* requests) {
  poll_extended(call, requests->all());
}

// `subject`: the request or the array of requests. Returns false also after an error of a request's function.
template <typename Subject, typename Done>
bool test_once(Call& call, Subject subject, Done done) {
  if (done()) return true;
  // Only if nothing is complete yet: a test that succeeds costs no round of progress.
  look_once(call);
  if (done()) return true;
  // A generalized request of MPICH's extension completes only inside its poll function.
  if (any_extended(call)) [[unlikely]] {
    poll(call, subject);
    if (!call.ok()) return false;
    if (done()) return true;
  }
  // A program that loops around a test must let its peer run.
  yield_processor(call);
  return false;
}

// The status and error of a request, without ending it.
void read_upper_status(Call& call, UpperLayerRequest& upper, MPI_Status* status) {
  MPI_Status unseen{};
  std::string text;
  const int error_class = upper.outcome(call.rank(), ignores(status) ? &unseen : status, text);
  if (error_class == MPI_SUCCESS) return;
  if (text.empty()) text = lost_text(call.rank());
  if (upper.has_program_errors()) call.set_error_origin(Call::ErrorOrigin::program);
  call.error(error_class, std::move(text));
}

}  // namespace

extern "C" int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  Call call(call_name<"MPI_Test">);
  call.not_null(request, "request");
  call.not_null(flag, "flag");
  call.status(status);
  if (!call.ok()) return call.failed();
  UserRequest* found = *request == MPI_REQUEST_NULL ? nullptr : call.request(*request);
  if (!call.ok()) return call.failed();
  *flag = 1;
  if (!active(found)) {
    empty_status(status);
    return MPI_SUCCESS;
  }
  if (!test_once(call, found, [found] { return complete(*found); })) {
    *flag = 0;
    return call.done();
  }
  end_only_request(call, *found, request, status);
  return call.done();
}
MARGAY_ALIAS(Test)

extern "C" int PMPI_Testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[]) {
  Call call(call_name<"MPI_Testall">);
  call.not_null(flag, "flag");
  RequestArray requests(call, count, array_of_requests);
  if (count > 0) call.status(array_of_statuses, "array_of_statuses");
  if (!call.ok()) return call.failed();
  *flag = test_once(call, &requests, [&requests] { return requests.all_complete(); }) ? 1 : 0;
  // Statuses are written only if all requests are complete.
  return *flag != 0 ? end_all(call, requests, array_of_statuses, ErrorFields::failed) : call.done();
}
MARGAY_ALIAS(Testall)

extern "C" int PMPI_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag, MPI_Status* status) {
  Call call(call_name<"MPI_Testany">);
  call.not_null(flag, "flag");
  call.not_null(index, "index");
  RequestArray requests(call, count, array_of_requests);
  call.status(status);
  if (!call.ok()) return call.failed();
  *index = MPI_UNDEFINED;
  *flag = 1;
  if (!requests.any_active()) {
    empty_status(status);
    return MPI_SUCCESS;
  }
  if (!test_once(call, &requests, [&requests] { return requests.any_complete(); })) {
    *flag = 0;
    return call.done();
  }
  // The first in the array, not the one that completed first.
  *index = requests.first_complete();
  requests.end_only(*index, status);
  return call.done();
}
MARGAY_ALIAS(Testany)

extern "C" int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                             MPI_Status array_of_statuses[]) {
  Call call(call_name<"MPI_Testsome">);
  call.not_null(outcount, "outcount");
  RequestArray requests(call, incount, array_of_requests);
  if (incount > 0) call.not_null(array_of_indices, "array_of_indices");
  if (incount > 0) call.status(array_of_statuses, "array_of_statuses");
  if (!call.ok()) return call.failed();
  if (!requests.any_active()) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  *outcount = 0;
  // Otherwise a request that is always complete would starve the others.
  make_progress(call, requests);
  if (!test_once(call, &requests, [&requests] { return requests.any_complete(); })) return call.done();
  return end_some(call, requests, outcount, array_of_indices, array_of_statuses);
}
MARGAY_ALIAS(Testsome)

extern "C" int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  Call call(call_name<"MPI_Request_get_status">);
  call.not_null(flag, "flag");
  call.status(status);
  if (!call.ok()) return call.failed();
  UserRequest* found = request == MPI_REQUEST_NULL ? nullptr : call.request(request);
  if (!call.ok()) return call.failed();
  *flag = 1;
  if (!active(found)) {
    empty_status(status);
  } else if (!test_once(call, found, [found] { return complete(*found); })) {
    *flag = 0;
  } else if (found->device->is_of_upper_layer()) {
    read_upper_status(call, static_cast<UpperLayerRequest&>(*found->device), status);
  } else {
    // The request stays as it is: MPI_Wait or MPI_Test may end it later.
    const Request& ended = *found->device;
    status_of(ended, status);
    if (ended.error_class != MPI_SUCCESS) fail_by(call, ended);
  }
  return call.done();
}
MARGAY_ALIAS(Request_get_status)
