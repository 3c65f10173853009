#include "mpi_adi/mpi/receive_call.hpp"

#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/device/type_check.hpp"

namespace margay::mpi_adi {

int blocking_receive(const CallName& name, const ReceiveArguments& arguments, MPI_Status* status) {
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

int nonblocking_receive(const CallName& name, const ReceiveArguments& arguments, MPI_Request* request) {
  Call call(name);
  const CheckedReceive receive = check_receive(call, arguments);
  call.not_null(request, "request");
  if (!call.ok()) [[unlikely]]
    return call.failed();
  hand_out(call, call.device().start_receive(receive), *receive.communicator, request);
  return call.done();
}

int send_and_receive(Call& call, const SendArguments& send, const ReceiveArguments& receive, MPI_Status* status) {
  const CheckedSend out = check_send(call, SendMode::standard, send);
  call.whose("of the send");
  const CheckedReceive in = check_receive(call, receive);
  call.whose("of the receive");
  call.status(status);
  if (!call.ok()) [[unlikely]]
    return call.failed();
  Request& incoming = *call.device().start_receive(in);
  Request& outgoing = *call.device().start_send(out);
  wait_until(
      call.rank(), [&] { return incoming.complete && outgoing.complete; }, 1);
  finish_device_request(call, incoming, status);
  finish_device_request(call, outgoing, MPI_STATUS_IGNORE);
  return call.done();
}

int send_and_replace(Call& call, const SendArguments& send, const ReceiveArguments& receive, MPI_Status* status) {
  const CheckedSend checked = check_send(call, SendMode::standard, send);
  call.whose("of the send");
  if (!call.ok()) [[unlikely]]
    return call.failed();
  // What goes out is copied first: the arriving message may land in the buffer before the send is done with it.
  const TypedCopy copy(*checked.type, send.buffer, send.count);
  copy.tell(call);
  return send_and_receive(call, {copy.bytes(), copy.size(), MPI_BYTE, send.destination, send.tag, send.communicator},
                          receive, status);
}

void status_of(const Request& request, MPI_Status* status) {
  if (ignores(status)) return;
  if (request.kind == RequestKind::receive) {
    fill_status(status, request.source, request.tag, request.bytes);
  } else {
    empty_status(status);
  }
  set_status_cancelled(*status, request.cancelled);
}

void finish_device_request(Call& call, Request& request, MPI_Status* status) {
  status_of(request, status);
  if (request.error_class != MPI_SUCCESS) call.error(request.error_class, words_of_failure(call.rank(), request));
  call.device().free(request);
}

TypedCopy::TypedCopy(const Datatype& type, const void* buffer, std::int64_t count) : type_(type) {
  Pieces pieces;
  const portals::Region data = pieces.to_send(buffer, count, type);
  size_ = static_cast<std::int64_t>(data.bytes());
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(data.bytes());
  if (size_ > 0) portals::copy(portals::Region(bytes_.get(), data.bytes()), data);
}

void TypedCopy::tell(Call& call) const {
  if (TypeCheck* const check = call.device().parts().type_check.get(); check != nullptr) check->copied_from(type_);
}

}  // namespace margay::mpi_adi
