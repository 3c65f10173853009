// MPI_Wait and its family (MPI 4.0, 3.7.3 and 3.7.5).
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/completion.hpp"

using namespace margay::mpi_adi;

extern "C" int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  Call call(call_name<"MPI_Wait">);
  call.not_null(request, "request");
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
  call.wait(*found->device);
  end_only_request(call, *found, request, status);
  return call.done();
}
MARGAY_ALIAS(Wait)

extern "C" int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  Call call(call_name<"MPI_Waitall">);
  RequestRow row(call, count, array_of_requests);
  if (!call.ok()) return call.failed();
  wait_until(
      call.rank(), [&row] { return row.all_complete(); }, row.messages_in_turn());
  return end_all(call, row, array_of_statuses);
}
MARGAY_ALIAS(Waitall)

extern "C" int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  Call call(call_name<"MPI_Waitany">);
  call.not_null(index, "index");
  RequestRow row(call, count, array_of_requests);
  if (!call.ok()) return call.failed();
  if (!row.any_active()) {
    *index = MPI_UNDEFINED;
    empty_status(status);
    return MPI_SUCCESS;
  }
  int found = row.size();
  wait_until(call.rank(), [&] { return (found = row.first_complete()) < row.size(); });
  *index = found;
  row.end_only(found, status);
  return call.done();
}
MARGAY_ALIAS(Waitany)

extern "C" int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                             MPI_Status array_of_statuses[]) {
  Call call(call_name<"MPI_Waitsome">);
  call.not_null(outcount, "outcount");
  RequestRow row(call, incount, array_of_requests);
  if (incount > 0) call.not_null(array_of_indices, "array_of_indices");
  if (!call.ok()) return call.failed();
  if (!row.any_active()) {
    *outcount = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  look_around(call);
  wait_until(call.rank(), [&row] { return row.first_complete() < row.size(); });
  return end_some(call, row, outcount, array_of_indices, array_of_statuses);
}
MARGAY_ALIAS(Waitsome)
