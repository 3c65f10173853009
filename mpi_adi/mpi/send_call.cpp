#include "mpi_adi/mpi/send_call.hpp"

#include "mpi_adi/mpi/failure_words.hpp"

namespace margay::mpi_adi {

namespace {

[[gnu::noinline]] int send_and_wait(Call& call, SendMode mode, const SendArguments& arguments,
                                    const CheckedSend& checked) {
  Request& request = *call.device().start_send(mode, arguments.buffer, arguments.count, *checked.type,
                                               arguments.destination, arguments.tag, *checked.communicator);
  call.wait(request);
  if (request.error_class != MPI_SUCCESS) {
    call.error(request.error_class, words_of_failure(call.rank(), request));
  }
  call.device().free(request);
  return call.done();
}

// For the list of leaks: the device keeps nothing of a send that is over.
[[gnu::noinline]] void note_sent(UserRequest* request, const SendArguments& arguments, const Datatype& type) {
  if (request == nullptr || !request->sent) return;
  request->call.peer = arguments.destination;
  request->call.tag = arguments.tag;
  request->call.count = arguments.count * static_cast<std::int64_t>(type.size);
}

}  // namespace

int blocking_send(const CallName& name, SendMode mode, const SendArguments& arguments) {
  Call call(name);
  const CheckedSend checked = check_send(call, arguments);
  if (!call.ok()) [[unlikely]]
    return call.failed();
  // A short message whose ring has room needs no request.
  if (mode != SendMode::synchronous &&
      call.device().send_now(mode, arguments.buffer, arguments.count, *checked.type, arguments.destination,
                             arguments.tag, *checked.communicator)) {
    return MPI_SUCCESS;
  }
  return send_and_wait(call, mode, arguments, checked);
}

int nonblocking_send(const CallName& name, SendMode mode, const SendArguments& arguments, MPI_Request* request) {
  Call call(name);
  const CheckedSend checked = check_send(call, arguments);
  call.not_null(request, "request");
  if (!call.ok()) [[unlikely]]
    return call.failed();
  hand_out(call,
           call.device().start_send(mode, arguments.buffer, arguments.count, *checked.type, arguments.destination,
                                    arguments.tag, *checked.communicator),
           *checked.communicator, request);
  if (call.rank().handles().origins() != nullptr && call.ok()) [[unlikely]]
    note_sent(call.rank().handles().request(*request), arguments, *checked.type);
  return call.done();
}

void refuse_request(Call& call, Request* device) {
  call.device().free(*device);
  call.error(MPI_ERR_OTHER, "too many requests are alive (2^18); complete or free some first");
}

}  // namespace margay::mpi_adi
