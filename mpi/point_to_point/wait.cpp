// MPI_Wait and its family (MPI 4.0, 3.7.3 and 3.7.5).
#include "mpi_adi/rank/wait.hpp"
#include "mpi/call/binding.hpp"
#include "mpi/point_to_point/completion.hpp"

using namespace margay::mpi;

namespace {

// Apart, so that the other waits do not pay for it. False: an error of the request's function.
[[gnu::noinline]] bool carry_on(Call& call, UserRequest* request) {
  wait_extended(call, Requests(&request, 1), true, [request] { return complete(*request); });
  return call.ok();
}
template <typename Done>
[[gnu::noinline]] bool carry_on(Call& call, const RequestRow& row, bool all, Done done) {
  wait_extended(call, row.all(), all, done);
  return call.ok();
}

// Until `done()`; false: an error of a request's function. `all`: that is when all of them are complete.
template <typename Done>
bool wait_for(Call& call, const RequestRow& row, int messages, bool all, Done done) {
  if (any_extended(call) && awaits_extended(row.all())) [[unlikely]]
    return carry_on(call, row, all, done);
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
  RequestRow row(call, count, array_of_requests);
  if (count > 0) call.status(array_of_statuses, "array_of_statuses");
  if (!call.ok()) return call.failed();
  if (!wait_for(call, row, row.messages_in_turn(), true, [&row] { return row.all_complete(); })) [[unlikely]]
    return call.failed();
  return end_all(call, row, array_of_statuses, ErrorFields::always);
}
MARGAY_ALIAS(Waitall)

extern "C" int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  Call call(call_name<"MPI_Waitany">);
  call.not_null(index, "index");
  RequestRow row(call, count, array_of_requests);
  call.status(status);
  if (!call.ok()) return call.failed();
  if (!row.any_active()) {
    *index = MPI_UNDEFINED;
    empty_status(status);
    return MPI_SUCCESS;
  }
  const auto any = [&row] { return row.any_complete(); };
  if (!wait_for(call, row, Device::kMessagesPerRound, false, any)) [[unlikely]]
    return call.failed();
  *index = row.first_complete();
  row.end_only(*index, status);
  return call.done();
}
MARGAY_ALIAS(Waitany)

extern "C" int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                             MPI_Status array_of_statuses[]) {
  Call call(call_name<"MPI_Waitsome">);
  call.not_null(outcount, "outcount");
  RequestRow row(call, incount, array_of_requests);
  if (incount > 0) call.not_null(array_of_indices, "array_of_indices");
  if (incount > 0) call.status(array_of_statuses, "array_of_statuses");
  if (!call.ok()) return call.failed();
  if (!row.any_active()) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  look_around(call, row);
  const auto any = [&row] { return row.any_complete(); };
  if (!wait_for(call, row, row.messages_in_look(), false, any)) [[unlikely]]
    return call.failed();
  return end_some(call, row, outcount, array_of_indices, array_of_statuses);
}
MARGAY_ALIAS(Waitsome)
