#include "mpi/point_to_point/completion.hpp"

#include "mpi/call/binding.hpp"
#include "mpi_adi/device/receive_request.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "mpi_adi/request/upper_layer_request.hpp"

namespace margay::mpi {

namespace {

// The message of a truncated receive, for the finding's record.
void record_message(Call& call, const Request& request) {
  if (request.error_class != MPI_ERR_TRUNCATE) return;
  call.failure().concerns(request.source, request.tag, static_cast<const mpi_adi::ReceiveRequest&>(request).sent_bytes);
}

// Ends an upper-layer request, which the device does not manage.
int end_upper(Call& call, UserRequest& request, MPI_Request* handle, MPI_Status* status, std::string& text) {
  auto& upper = static_cast<UpperLayerRequest&>(*request.device);
  MPI_Status unseen{};
  const int error_class = upper.end(call.rank(), ignores(status) ? &unseen : status, text);
  if (error_class != MPI_SUCCESS && upper.has_program_errors()) call.set_error_origin(Call::ErrorOrigin::program);
  if (error_class != MPI_SUCCESS && text.empty()) text = lost_text(call.rank());
  request.device = nullptr;
  if (!request.persistent) {
    delete &upper;
    call.rank().handles().free_request(request);
    *handle = MPI_REQUEST_NULL;
  }
  return error_class;
}

// Frees the request, or makes a persistent one inactive.
void give_back(Call& call, UserRequest& request, MPI_Request* handle) {
  // The request that all completed sends share is never freed.
  if (request.common) {
    *handle = MPI_REQUEST_NULL;
    return;
  }
  if (!request.sent) call.device().free(*request.device);
  request.device = nullptr;
  if (!request.persistent) {
    call.rank().handles().free_request(request);
    *handle = MPI_REQUEST_NULL;
  }
}

// Ends a send or receive that did not fail, the usual case. Returns false, without an effect, otherwise.
bool end_well(Call& call, UserRequest& request, MPI_Request* handle, MPI_Status* status) {
  if (request.device->is_of_upper_layer() || request.device->error_class != MPI_SUCCESS) [[unlikely]]
    return false;
  status_of(*request.device, status);
  give_back(call, request, handle);
  return true;
}

}  // namespace

void fail_by(Call& call, const Request& request) {
  record_message(call, request);
  call.error(request.error_class, failure_text(call.rank(), request));
}

// Three cases: a send or receive that succeeded, an upper-layer request, a send or receive that failed.
int end_request(Call& call, UserRequest& request, MPI_Request* handle, MPI_Status* status, std::string& text) {
  if (end_well(call, request, handle, status)) return MPI_SUCCESS;
  if (request.device->is_of_upper_layer()) return end_upper(call, request, handle, status, text);
  const int error_class = request.device->error_class;
  status_of(*request.device, status);
  text = failure_text(call.rank(), *request.device);
  record_message(call, *request.device);
  give_back(call, request, handle);
  return error_class;
}

void end_only_request(Call& call, UserRequest& request, MPI_Request* handle, MPI_Status* status) {
  // Read before the request is freed.
  Communicator& communicator = *request.communicator;
  std::string text;
  const int error_class = end_request(call, request, handle, status, text);
  if (error_class == MPI_SUCCESS) return;
  call.on(communicator);
  call.error(error_class, std::move(text));
}

RequestArray::RequestArray(Call& call, int count, MPI_Request* handles)
    : call_(call), handles_(handles), count_(count > 0 ? count : 0), requests_(inline_) {
  call.count(count);
  if (count_ > 0) call.not_null(handles, "array_of_requests");
  if (!call.ok()) {
    count_ = 0;
    return;
  }
  // Up to kInline requests need no allocation.
  if (count_ > kInline) requests_ = new UserRequest*[static_cast<std::size_t>(count_)];
  UserRequest** const requests = requests_;
  for (int i = 0; i < count; ++i) requests[i] = handles[i] == MPI_REQUEST_NULL ? nullptr : call.request(handles[i]);
}

RequestArray::~RequestArray() {
  if (requests_ != inline_) delete[] requests_;
}

bool RequestArray::any_active() const {
  for (int i = 0; i < count_; ++i) {
    if (active(requests_[i])) return true;
  }
  return false;
}

// Resumes where it stopped last: completed requests stay complete during the call.
bool RequestArray::all_complete() const {
  int at = unfinished_from_;
  while (at < count_ && (!active(requests_[at]) || complete(*requests_[at]))) ++at;
  unfinished_from_ = at;
  return at == count_;
}

bool RequestArray::any_complete() {
  const std::uint64_t completions = call_.device().completions();
  // No request has completed since the last scan, which found none.
  if (completions == completions_seen_) return false;
  if (first_complete() < count_) return true;
  completions_seen_ = completions;
  return false;
}

int RequestArray::first_complete(int from) const {
  for (int i = from; i < count_; ++i) {
    if (active(requests_[i]) && complete(*requests_[i])) return i;
  }
  return count_;
}

void RequestArray::end_only(int i, MPI_Status* status) {
  end_only_request(call_, *requests_[i], &handles_[i], status);
  if (handles_[i] == MPI_REQUEST_NULL) requests_[i] = nullptr;
}

bool RequestArray::end_well(int i, MPI_Status* status) {
  UserRequest& request = *requests_[i];
  const bool persistent = request.persistent;
  if (!mpi::end_well(call_, request, &handles_[i], status)) return false;
  if (!persistent) requests_[i] = nullptr;
  return true;
}

// A request whose handle became null is removed from the array.
int RequestArray::end(int i, MPI_Status* status, std::string& text) {
  const int error_class = end_request(call_, *requests_[i], &handles_[i], status, text);
  if (handles_[i] == MPI_REQUEST_NULL) requests_[i] = nullptr;
  return error_class;
}

namespace {

// The statuses of a call that ends several requests. If one request failed, MPI_ERROR is written in all of them (MPI
// 4.0, 3.2.5).
class Statuses {
 public:
  Statuses(MPI_Status* all, ErrorFields fields) : all_(all), always_(fields == ErrorFields::always) {}
  [[nodiscard]] MPI_Status* at(int i) const { return all_ == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : all_ + i; }
  // Records the error class of status `i`. Requires: those before it are recorded.
  void record(int i, int error_class) {
    if (all_ == MPI_STATUSES_IGNORE || (error_class == MPI_SUCCESS && !always_)) return;
    if (!always_) {
      for (int before = 0; before < i; ++before) all_[before].MPI_ERROR = MPI_SUCCESS;
    }
    always_ = true;
    all_[i].MPI_ERROR = error_class;
  }

 private:
  MPI_Status* all_;
  bool always_;  // MPI_ERROR is written in all recorded statuses
};

// Out of line: a failure is rare, and this code is long.
[[gnu::noinline]] int end_failed(Call& call, RequestArray& requests, int i, MPI_Status* status) {
  Communicator& communicator = *requests[i]->communicator;
  // Only the first failed request determines the call's error and its origin; ending a later one must not change them.
  const Call::ErrorOrigin before = call.error_origin();
  std::string text;
  // Ending the request drops its reference, and the handler is called afterwards.
  ++communicator.references;
  const int error_class = requests.end(i, status, text);
  if (error_class == MPI_SUCCESS || !call.ok()) {
    call.device().drop_reference(communicator);
    if (error_class != MPI_SUCCESS) call.set_error_origin(before);
    return error_class;
  }
  const bool programs = call.error_origin() == Call::ErrorOrigin::program;  // a function of the program returned it
  // The communicator may be freed before its handler is called.
  call.adopt(communicator);
  const std::string name(error_class_name(error_class));
  call.error(MPI_ERR_IN_STATUS, "request " + std::to_string(i) + " failed with " +
                                    (name.empty() ? "code " + std::to_string(error_class) : name) + ": " + text);
  call.set_error_origin(programs                              ? Call::ErrorOrigin::program_class
                        : error_class == MPIX_ERR_PROC_FAILED ? Call::ErrorOrigin::peer
                                                              : Call::ErrorOrigin::call);
  call.status_class(call.rank().errors().class_of(error_class));
  return error_class;
}

// Ends request `i`, whose status is number `at`; the first error becomes the call's.
void end_one(Call& call, RequestArray& requests, int i, Statuses& statuses, int at) {
  MPI_Status* const status = statuses.at(at);
  statuses.record(at, requests.end_well(i, status) ? MPI_SUCCESS : end_failed(call, requests, i, status));
}

}  // namespace

// Ends all requests even after a failure, because MPI_Waitall reports each in its status.
int end_all(Call& call, RequestArray& requests, MPI_Status* array, ErrorFields fields) {
  Statuses statuses(array, fields);
  const int size = requests.size();
  for (int i = 0; i < size; ++i) {
    if (active(requests[i])) [[likely]] {
      end_one(call, requests, i, statuses, i);
    } else {
      // A null or inactive request has an empty status (MPI 4.0, 3.7.5).
      empty_status(statuses.at(i));
      statuses.record(i, MPI_SUCCESS);
    }
  }
  return call.done();
}

int end_some(Call& call, RequestArray& requests, int* outcount, int* indices, MPI_Status* array) {
  Statuses statuses(array, ErrorFields::failed);
  int ended = 0;
  for (int i = requests.first_complete(); i < requests.size(); i = requests.first_complete(i + 1)) {
    indices[ended] = i;
    end_one(call, requests, i, statuses, ended);
    ++ended;
  }
  *outcount = ended;
  return call.done();
}

}  // namespace margay::mpi

// MPI_Wait and its variants (MPI 4.0, 3.7.3 and 3.7.5).

using namespace margay::mpi;

namespace {

// Waits for requests of which some are extended generalized requests, and calls the functions that the program gave for
// these. Out of line, so that other waits do not pay for it. Returns false after an error of such a function.
[[gnu::noinline]] bool carry_on(Call& call, UserRequest* request) {
  wait_extended(call, Requests(&request, 1), true, [request] { return complete(*request); });
  return call.ok();
}
template <typename Done>
[[gnu::noinline]] bool carry_on(Call& call, const RequestArray& requests, bool all, Done done) {
  wait_extended(call, requests.all(), all, done);
  return call.ok();
}

// Waits until `done()`; returns false after an error of a request's function. `all`: whether `done()` requires that all
// requests are complete.
template <typename Done>
bool wait_for(Call& call, const RequestArray& requests, int messages, bool all, Done done) {
  // One test unless the program uses MPICH's extended generalized requests.
  if (any_extended(call) && awaits_extended(requests.all())) [[unlikely]]
    return carry_on(call, requests, all, done);
  wait_until(call.rank(), done, messages);
  return true;
}

}  // namespace

extern "C" int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  Call call(call_name<"MPI_Wait">);
  call.not_null(request, "request");
  call.status(status);
  if (!call.ok()) return call.failed();
  if (*request == MPI_REQUEST_NULL) {
    empty_status(status);
    return MPI_SUCCESS;
  }
  UserRequest* found = call.request(*request);
  if (!call.ok()) return call.failed();
  if (!active(found)) {
    empty_status(status);
    return MPI_SUCCESS;
  }
  if (!complete(*found) && any_extended(call) && awaits_extended({&found, 1}) && !carry_on(call, found)) [[unlikely]]
    return call.failed();
  call.wait(*found->device);
  end_only_request(call, *found, request, status);
  return call.done();
}
MARGAY_ALIAS(Wait)

extern "C" int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  Call call(call_name<"MPI_Waitall">);
  RequestArray requests(call, count, array_of_requests);
  if (count > 0) call.status(array_of_statuses, "array_of_statuses");
  if (!call.ok()) return call.failed();
  if (!wait_for(call, requests, requests.messages_in_turn(), true, [&requests] { return requests.all_complete(); }))
      [[unlikely]]
    return call.failed();
  return end_all(call, requests, array_of_statuses, ErrorFields::always);
}
MARGAY_ALIAS(Waitall)

extern "C" int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  Call call(call_name<"MPI_Waitany">);
  call.not_null(index, "index");
  RequestArray requests(call, count, array_of_requests);
  call.status(status);
  if (!call.ok()) return call.failed();
  if (!requests.any_active()) {
    *index = MPI_UNDEFINED;
    empty_status(status);
    return MPI_SUCCESS;
  }
  const auto any = [&requests] { return requests.any_complete(); };
  if (!wait_for(call, requests, Device::kMessagesPerRound, false, any)) [[unlikely]]
    return call.failed();
  *index = requests.first_complete();
  requests.end_only(*index, status);
  return call.done();
}
MARGAY_ALIAS(Waitany)

extern "C" int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                             MPI_Status array_of_statuses[]) {
  Call call(call_name<"MPI_Waitsome">);
  call.not_null(outcount, "outcount");
  RequestArray requests(call, incount, array_of_requests);
  if (incount > 0) call.not_null(array_of_indices, "array_of_indices");
  if (incount > 0) call.status(array_of_statuses, "array_of_statuses");
  if (!call.ok()) return call.failed();
  if (!requests.any_active()) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  make_progress(call, requests);
  const auto any = [&requests] { return requests.any_complete(); };
  if (!wait_for(call, requests, requests.messages_in_look(), false, any)) [[unlikely]]
    return call.failed();
  return end_some(call, requests, outcount, array_of_indices, array_of_statuses);
}
MARGAY_ALIAS(Waitsome)
