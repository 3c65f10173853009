// MPI_Request_free, MPI_Cancel, MPI_Test_cancelled (MPI 4.0, 3.7.3 and 3.8.4).
#include "mpi_adi/mpi/binding.hpp"
#include "mpi_adi/mpi/completion.hpp"

using namespace margay::mpi_adi;

extern "C" int PMPI_Request_free(MPI_Request* request) {
  Call call(call_name<"MPI_Request_free">);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  UserRequest* found = call.request(*request);
  if (!call.ok()) return call.failed();
  // What is under way goes on; the device frees it when it is complete.
  if (found->device != nullptr) call.device().free(*found->device);
  call.rank().free_request(*found);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}
MARGAY_ALIAS(Request_free)

extern "C" int PMPI_Cancel(MPI_Request* request) {
  Call call(call_name<"MPI_Cancel">);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  UserRequest* found = call.request(*request);
  if (!call.ok()) return call.failed();
  // What has arrived already is not to be cancelled any more.
  call.device().progress();
  if (found->device != nullptr) call.device().cancel(*found->device);
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
