#include "mpi/point_to_point/receive_call.hpp"

#include "mpi/point_to_point/checked_arguments.hpp"
#include "mpi/point_to_point/outcome.hpp"

namespace margay::mpi {

int blocking_receive(const Invocation& name, const ReceiveArguments& arguments, MPI_Status* status) {
  Call call(name);
  const CheckedReceive receive = check_receive(call, arguments);
  call.status(status);
  if (!call.ok()) [[unlikely]]
    return call.failed();
  Request& request = *call.device().start_receive(receive);
  call.wait(request);
  finish_device_request(call, request, status);
  return call.done();
}

int nonblocking_receive(const Invocation& name, const ReceiveArguments& arguments, MPI_Request* request) {
  Call call(name);
  const CheckedReceive receive = check_receive(call, arguments);
  call.not_null(request, "request");
  if (!call.ok()) [[unlikely]]
    return call.failed();
  hand_out(call, call.device().start_receive(receive), *receive.communicator, request);
  return call.done();
}

}  // namespace margay::mpi
