#include "mpi_adi/mpi/send_call.hpp"

#include "mpi_adi/mpi/receive_call.hpp"

namespace margay::mpi_adi {

int blocking_send(Call& call, SendMode mode, const SendArguments& arguments) {
  const CheckedSend checked = check_send(call, arguments);
  if (!call.ok()) [[unlikely]]
    return call.failed();
  // A short message whose ring has room needs no request.
  if (mode != SendMode::synchronous &&
      call.device().send_now(mode, arguments.buffer, arguments.count, *checked.type, arguments.destination,
                             arguments.tag, *checked.communicator)) {
    return MPI_SUCCESS;
  }
  Request& request = *call.device().start_send(mode, arguments.buffer, arguments.count, *checked.type,
                                               arguments.destination, arguments.tag, *checked.communicator);
  call.wait(request);
  if (request.error_class != MPI_SUCCESS) {
    call.error(request.error_class, words_of_failure(call.rank(), request));
  }
  call.device().free(request);
  return call.done();
}

int nonblocking_send(Call& call, SendMode mode, const SendArguments& arguments, MPI_Request* request) {
  const CheckedSend checked = check_send(call, arguments);
  call.not_null(request, "request");
  if (!call.ok()) [[unlikely]]
    return call.failed();
  hand_out(call,
           call.device().start_send(mode, arguments.buffer, arguments.count, *checked.type, arguments.destination,
                                    arguments.tag, *checked.communicator),
           *checked.communicator, request);
  return call.done();
}

void refuse_request(Call& call, Request* device) {
  call.device().free(*device);
  call.error(MPI_ERR_OTHER, "too many requests are alive (2^18); complete or free some first");
}

}  // namespace margay::mpi_adi
