// MPI's completion functions. An array may have requests of the layer and of margay's MPI: the latter are tested in a
// copy of the array, which has MPI_REQUEST_NULL for the former.
#include "libraries/nexus_mpi/completion.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "libraries/nexus_mpi/matching.hpp"
#include "libraries/nexus_mpi/serve.hpp"

namespace margay::nexus_mpi {

void set_status(MPI_Status* status, int source, int tag, std::size_t bytes, bool is_cancelled) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  PMPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
  PMPI_Status_set_cancelled(status, is_cancelled ? 1 : 0);
}

void set_status(MPI_Status* status, const Request& request) {
  if (request.kind == Request::Kind::send) return set_empty(status);
  set_status(status, request.source, request.tag, request.bytes, request.is_cancelled);
}

void set_empty(MPI_Status* status) {
  set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

namespace {

// The requests of one call.
struct Batch {
  const char* call = "";
  std::span<MPI_Request> all;
  std::vector<MPI_Request> others;  // with MPI_REQUEST_NULL for those of the layer
  std::size_t own = 0;
  bool any_other = false;

  Batch(const char* name, std::span<MPI_Request> requests)
      : call(name), all(requests), others(requests.begin(), requests.end()) {
    for (MPI_Request& each : others) {
      if (find_request(each) != nullptr) {
        each = MPI_REQUEST_NULL;
        ++own;
      } else if (each != MPI_REQUEST_NULL) {
        any_other = true;
      }
    }
  }
  [[nodiscard]] bool own_complete() const {
    return std::ranges::all_of(all, [](MPI_Request each) {
      const Request* const request = find_request(each);
      return request == nullptr || request->is_complete;
    });
  }
  // The index of a complete request of the layer; -1: none.
  [[nodiscard]] int first_complete() const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Request* const request = find_request(all[i]);
      if (request != nullptr && request->is_complete) return static_cast<int>(i);
    }
    return -1;
  }
};

bool is_batch(int count, const MPI_Request* requests) {
  return layer != nullptr && count > 0 && requests != nullptr;
}

// Completes a request; returns its error. Without a call of the error handler.
int take(const char* call, MPI_Request& handle, MPI_Status* status) {
  Request& request = *find_request(handle);
  set_status(status, request);
  const int error = error_code(request, call);
  finish_request(request);
  remove_request(handle);
  return error;
}

int report_one(MPI_Comm communicator, int error) {
  if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(communicator, error);
  return error;
}

// The status at an index of an array, which may be MPI_STATUSES_IGNORE.
MPI_Status* at(MPI_Status* statuses, std::size_t index) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + index;
}

// Completes all; `code`: of the test of the others.
int take_all(Batch& batch, MPI_Status* statuses, int code) {
  MPI_Comm failed = MPI_COMM_NULL;
  std::vector<int> errors(batch.all.size(), MPI_SUCCESS);
  for (std::size_t i = 0; i < batch.all.size(); ++i) {
    const Request* const request = find_request(batch.all[i]);
    if (request == nullptr) {
      batch.all[i] = batch.others[i];
      if (code == MPI_ERR_IN_STATUS && statuses != MPI_STATUSES_IGNORE) errors[i] = statuses[i].MPI_ERROR;
      continue;
    }
    const MPI_Comm communicator = request->handle;
    errors[i] = take(batch.call, batch.all[i], at(statuses, i));
    if (errors[i] != MPI_SUCCESS) failed = communicator;
  }
  if (failed == MPI_COMM_NULL) return code;
  for (std::size_t i = 0; statuses != MPI_STATUSES_IGNORE && i < errors.size(); ++i) statuses[i].MPI_ERROR = errors[i];
  return report_one(failed, MPI_ERR_IN_STATUS);
}

// Completes one request, if one is complete. `is_empty`: none is active.
bool take_any(Batch& batch, int* index, MPI_Status* status, int& code, bool& is_empty) {
  const int own = batch.first_complete();
  if (own >= 0) {
    *index = own;
    MPI_Request& handle = batch.all[static_cast<std::size_t>(own)];
    const MPI_Comm communicator = find_request(handle)->handle;
    code = report_one(communicator, take(batch.call, handle, status));
    return true;
  }
  if (batch.own != 0 && !batch.any_other) return false;
  int flag = 0;
  code = PMPI_Testany(static_cast<int>(batch.others.size()), batch.others.data(), index, &flag, status);
  if (code == MPI_SUCCESS && flag == 0) return false;
  if (*index == MPI_UNDEFINED) {
    is_empty = batch.own == 0;
    return is_empty;
  }
  batch.all[static_cast<std::size_t>(*index)] = batch.others[static_cast<std::size_t>(*index)];
  return true;
}

// Completes all that are complete; outcount is MPI_UNDEFINED if none is active.
bool take_some(Batch& batch, int* outcount, int* indices, MPI_Status* statuses, int& code) {
  int taken = 0;
  code = MPI_SUCCESS;
  if (batch.any_other || batch.own == 0) {
    code = PMPI_Testsome(static_cast<int>(batch.others.size()), batch.others.data(), &taken, indices, statuses);
    if (taken == MPI_UNDEFINED && batch.own != 0) taken = 0;
    if (taken == MPI_UNDEFINED) {
      *outcount = taken;
      return true;
    }
    for (int i = 0; i < taken; ++i) {
      const auto index = static_cast<std::size_t>(indices[i]);
      batch.all[index] = batch.others[index];
    }
  }
  MPI_Comm failed = MPI_COMM_NULL;
  for (std::size_t i = 0; i < batch.all.size(); ++i) {
    const Request* const request = find_request(batch.all[i]);
    if (request == nullptr || !request->is_complete) continue;
    const MPI_Comm communicator = request->handle;
    const auto next = static_cast<std::size_t>(taken);
    const int error = take(batch.call, batch.all[i], at(statuses, next));
    if (statuses != MPI_STATUSES_IGNORE) statuses[next].MPI_ERROR = error;
    if (error != MPI_SUCCESS) failed = communicator;
    indices[taken++] = static_cast<int>(i);
  }
  *outcount = taken;
  if (failed != MPI_COMM_NULL) code = report_one(failed, MPI_ERR_IN_STATUS);
  return taken != 0 || code != MPI_SUCCESS;
}

int wait_any(const char* call, std::span<MPI_Request> requests, int* index, MPI_Status* status) {
  return guarded(MPI_COMM_WORLD, call, [&] {
    Batch batch(call, requests);
    if (!batch.any_other && batch.own != 0) serve_until([&batch] { return batch.first_complete() >= 0; });
    int code = MPI_SUCCESS;
    bool is_empty = false;
    poll_until([&] { return take_any(batch, index, status, code, is_empty); });
    return code;
  });
}

int test_any(const char* call, std::span<MPI_Request> requests, int* index, int* flag, MPI_Status* status) {
  return guarded(MPI_COMM_WORLD, call, [&] {
    Batch batch(call, requests);
    if (batch.first_complete() < 0) serve();
    int code = MPI_SUCCESS;
    bool is_empty = false;
    *index = MPI_UNDEFINED;
    *flag = take_any(batch, index, status, code, is_empty) ? 1 : 0;
    return code;
  });
}

}  // namespace

int wait_for(const char* call, MPI_Request& request, MPI_Status* status) {
  int index = 0;
  if (find_request(request) != nullptr) return wait_any(call, std::span(&request, 1), &index, status);
  int code = MPI_SUCCESS;
  return guarded(MPI_COMM_WORLD, call, [&] {
    poll_until([&] {
      int flag = 0;
      code = PMPI_Test(&request, &flag, status);
      return code != MPI_SUCCESS || flag != 0;
    });
    return code;
  });
}

}  // namespace margay::nexus_mpi

using namespace margay::nexus_mpi;

extern "C" {

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (layer == nullptr || request == nullptr || *request == MPI_REQUEST_NULL) return PMPI_Wait(request, status);
  return wait_for("MPI_Wait", *request, status);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (layer == nullptr || request == nullptr || flag == nullptr) return PMPI_Test(request, flag, status);
  int index = 0;
  if (find_request(*request) != nullptr) return test_any("MPI_Test", std::span(request, 1), &index, flag, status);
  return guarded(MPI_COMM_WORLD, "MPI_Test", [&] {
    serve();
    return PMPI_Test(request, flag, status);
  });
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (!is_batch(count, requests)) return PMPI_Waitall(count, requests, statuses);
  return guarded(MPI_COMM_WORLD, "MPI_Waitall", [&] {
    Batch batch("MPI_Waitall", std::span(requests, static_cast<std::size_t>(count)));
    serve_until([&batch] { return batch.own_complete(); });
    int code = MPI_SUCCESS;
    if (batch.any_other || statuses != MPI_STATUSES_IGNORE) {
      poll_until([&] {
        int flag = 0;
        code = PMPI_Testall(count, batch.others.data(), &flag, statuses);
        return code != MPI_SUCCESS || flag != 0;
      });
    }
    return take_all(batch, statuses, code);
  });
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (!is_batch(count, requests) || flag == nullptr) return PMPI_Testall(count, requests, flag, statuses);
  return guarded(MPI_COMM_WORLD, "MPI_Testall", [&] {
    Batch batch("MPI_Testall", std::span(requests, static_cast<std::size_t>(count)));
    serve();
    *flag = 0;
    if (!batch.own_complete()) return MPI_SUCCESS;
    const int code = PMPI_Testall(count, batch.others.data(), flag, statuses);
    return code == MPI_SUCCESS && *flag == 0 ? code : take_all(batch, statuses, code);
  });
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (!is_batch(count, requests) || index == nullptr) return PMPI_Waitany(count, requests, index, status);
  return wait_any("MPI_Waitany", std::span(requests, static_cast<std::size_t>(count)), index, status);
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (!is_batch(count, requests) || index == nullptr || flag == nullptr)
    return PMPI_Testany(count, requests, index, flag, status);
  return test_any("MPI_Testany", std::span(requests, static_cast<std::size_t>(count)), index, flag, status);
}

int MPI_Waitsome(int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  if (!is_batch(incount, requests) || outcount == nullptr || indices == nullptr)
    return PMPI_Waitsome(incount, requests, outcount, indices, statuses);
  return guarded(MPI_COMM_WORLD, "MPI_Waitsome", [&] {
    Batch batch("MPI_Waitsome", std::span(requests, static_cast<std::size_t>(incount)));
    if (!batch.any_other && batch.own != 0) serve_until([&batch] { return batch.first_complete() >= 0; });
    int code = MPI_SUCCESS;
    poll_until([&] { return take_some(batch, outcount, indices, statuses, code); });
    return code;
  });
}

int MPI_Testsome(int incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  if (!is_batch(incount, requests) || outcount == nullptr || indices == nullptr)
    return PMPI_Testsome(incount, requests, outcount, indices, statuses);
  return guarded(MPI_COMM_WORLD, "MPI_Testsome", [&] {
    Batch batch("MPI_Testsome", std::span(requests, static_cast<std::size_t>(incount)));
    serve();
    int code = MPI_SUCCESS;
    take_some(batch, outcount, indices, statuses, code);
    return code;
  });
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  const Request* const found = find_request(request);
  if (found == nullptr || flag == nullptr) return PMPI_Request_get_status(request, flag, status);
  return guarded(MPI_COMM_WORLD, "MPI_Request_get_status", [&] {
    if (!found->is_complete) serve();
    *flag = found->is_complete ? 1 : 0;
    if (found->is_complete) set_status(status, *found);
    return MPI_SUCCESS;
  });
}

int MPI_Request_free(MPI_Request* request) {
  Request* const found = request == nullptr ? nullptr : find_request(*request);
  if (found == nullptr) return PMPI_Request_free(request);
  if (found->is_complete) {
    take("MPI_Request_free", *request, MPI_STATUS_IGNORE);
  } else {
    found->is_freed = true;
    *request = MPI_REQUEST_NULL;
  }
  return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request* request) {
  Request* const found = request == nullptr ? nullptr : find_request(*request);
  if (found == nullptr) return PMPI_Cancel(request);
  // A send is under way already.
  if (found->kind == Request::Kind::receive && unpost(*found)) {
    found->is_cancelled = true;
    found->is_complete = true;
  }
  return MPI_SUCCESS;
}

}  // extern "C"
