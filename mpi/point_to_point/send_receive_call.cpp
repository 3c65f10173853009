// The combined calls: a send and a receive together.
#include <cstddef>
#include <memory>
#include <utility>

#include "mpi/call/call.hpp"
#include "mpi/point_to_point/arguments.hpp"
#include "mpi/point_to_point/completion.hpp"
#include "mpi/point_to_point/send.hpp"
#include "mpi_adi/device/pieces.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "mpi_adi/request/upper_layer_request.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi {

namespace {

// A packed copy of the data to send, because the arriving message may be written to the buffer before the send has read
// it.
class TypedCopy {
 public:
  explicit TypedCopy(const CheckedSend& send) {
    MARGAY_ASSERT(send.type != nullptr);  // the caller has checked it
    Pieces pieces;
    const portals::Region data = pieces.to_send(send.buffer, send.count, *send.type);
    size_ = static_cast<std::int64_t>(data.bytes());
    bytes_ = std::make_unique_for_overwrite<std::byte[]>(data.bytes());
    if (size_ > 0) portals::copy(portals::Region(bytes_.get(), data.bytes()), data);
  }
  [[nodiscard]] SendArguments instead_of(const SendArguments& send) const {
    return {bytes_.get(), size_, MPI_BYTE, send.destination, send.tag, send.communicator};
  }
  [[nodiscard]] std::unique_ptr<std::byte[]> take() { return std::move(bytes_); }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::int64_t size_ = 0;
};

// The ends of a call whose arguments of one part are invalid: the error names the part, the finding its peer and tag.
int refuse_send(Call& call, const SendArguments& send) {
  call.append_part("of the send");
  return refuse(call, send.destination, send.tag);
}

int refuse_receive(Call& call, const ReceiveArguments& receive) {
  call.append_part("of the receive");
  return refuse(call, receive.source, receive.tag);
}

// The blocking form: waits for both. `copied_from`: CheckedSend::copied_from.
int carry_out(Call& call, const SendArguments& send, const CheckedSend* copied_from, const ReceiveArguments& receive,
              MPI_Status* status) {
  CheckedSend out = check_send(call, SendMode::standard, send);
  if (!call.ok()) [[unlikely]]
    return refuse_send(call, send);
  out.copied_from = copied_from;
  const CheckedReceive in = check_receive(call, receive);
  if (!call.ok()) [[unlikely]]
    return refuse_receive(call, receive);
  call.status(status);
  if (!call.ok()) [[unlikely]]
    return refuse(call, receive.source, receive.tag);
  // The receive first, so that a message of this rank to itself finds it.
  Request& incoming = *call.device().start_receive(in);
  Request& outgoing = *call.device().start_send(out);
  wait_until(
      call.rank(), [&] { return incoming.complete && outgoing.complete; }, 1);
  finish_device_request(call, incoming, status);
  finish_device_request(call, outgoing, MPI_STATUS_IGNORE);
  return call.done();
}

// The nonblocking form: one request for both. `copy`: the data that the send reads instead of the program's buffer, or
// null; kept until both are complete.
int start_both(Call& call, const SendArguments& send, const CheckedSend* copied_from, const ReceiveArguments& receive,
               std::unique_ptr<std::byte[]> copy, MPI_Request* handle) {
  CheckedSend out = check_send(call, SendMode::standard, send);
  if (!call.ok()) return refuse_send(call, send);
  out.copied_from = copied_from;
  const CheckedReceive in = check_receive(call, receive);
  if (!call.ok()) return refuse_receive(call, receive);
  call.not_null(handle, "request");
  // The handle first: without one nothing is started, since a started operation could not be completed.
  UserRequest* const made = call.ok() ? add_request_handle(call, *in.communicator) : nullptr;
  if (!call.ok()) return call.failed();
  Device& device = call.device();
  auto* const both = new SendReceive(device, *in.communicator, std::move(copy));
  made->device = both;
  Request* const incoming = device.start_receive(in);
  Request* const outgoing = device.start_send(out);
  both->begin(*incoming, *outgoing);
  *handle = made->handle;
  return MPI_SUCCESS;
}

}  // namespace

int send_and_receive(const Invocation& name, const SendArguments& send, const ReceiveArguments& receive,
                     MPI_Status* status) {
  Call call(name);
  return carry_out(call, send, nullptr, receive, status);
}

int start_send_and_receive(const Invocation& name, const SendArguments& send, const ReceiveArguments& receive,
                           MPI_Request* request) {
  Call call(name);
  return start_both(call, send, nullptr, receive, nullptr, request);
}

int send_and_replace(const Invocation& name, const SendArguments& send, const ReceiveArguments& receive,
                     MPI_Status* status) {
  Call call(name);
  const CheckedSend checked = check_send(call, SendMode::standard, send);
  if (!call.ok()) return refuse_send(call, send);
  // Lives until the send is complete.
  const TypedCopy copy(checked);
  return carry_out(call, copy.instead_of(send), &checked, receive, status);
}

int start_send_and_replace(const Invocation& name, const SendArguments& send, const ReceiveArguments& receive,
                           MPI_Request* request) {
  Call call(name);
  const CheckedSend checked = check_send(call, SendMode::standard, send);
  if (!call.ok()) return refuse_send(call, send);
  TypedCopy copy(checked);
  const SendArguments copied = copy.instead_of(send);
  return start_both(call, copied, &checked, receive, copy.take(), request);
}

}  // namespace margay::mpi
