// MPI_Barrier (MPI 4.0, 6.3), MPI_Ibarrier (6.12.1) and MPI_Barrier_init (6.13.1).
#include "mpi/call/binding.hpp"
#include "mpi/call/call.hpp"
#include "mpi/collective/arguments.hpp"
#include "mpi/collective/check_call.hpp"
#include "mpi/collective/request_call.hpp"
#include "mpi/info/table.hpp"

using namespace margay::mpi;

namespace {

// The nonblocking and persistent forms.
int barrier(Call& call, Form form, MPI_Comm comm, MPI_Request* request) {
  Communicator* communicator = call.communicator(comm);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  check_call(call, *communicator);
  return give_request(call, form, std::make_unique<PlainCallTask<BarrierCall>>(call.rank(), *communicator), request);
}

}  // namespace

extern "C" int PMPI_Barrier(MPI_Comm comm) {
  Call call(call_name<"MPI_Barrier">);
  Communicator* communicator = call.communicator(comm);
  if (!call.ok()) return call.failed();
  check_call(call, *communicator);
  // On an intercommunicator both groups wait for each other, so the barrier runs over both.
  record_error(call, perform(collectives_of(call), communicator->all_members(), BarrierCall{}));
  return call.done();
}
MARGAY_ALIAS(Barrier)

extern "C" int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  Call call(call_name<"MPI_Ibarrier">);
  return barrier(call, Form::nonblocking, comm, request);
}
MARGAY_ALIAS(Ibarrier)

extern "C" int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  Call call(call_name<"MPI_Barrier_init">);
  check_hints(call, info);
  return barrier(call, Form::persistent, comm, request);
}
MARGAY_ALIAS(Barrier_init)
