// What the send bindings share: the check of a send's arguments, and the two ways to go on.
#pragma once

#include "mpi_adi/mpi/call.hpp"

namespace margay::mpi_adi {

// A send's arguments as the program gave them.
struct SendArguments {
  const void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
  int destination;
  int tag;
  MPI_Comm communicator;
};

// The same, looked up. After an error some of it is missing.
[[nodiscard]] inline CheckedSend check_send(Call& call, SendMode mode, const SendArguments& arguments) {
  CheckedSend checked{mode,          arguments.buffer, arguments.count,        nullptr, arguments.destination,
                      arguments.tag, nullptr,          Context::point_to_point};
  // Nothing is asked of what was not found, nor after an error.
  checked.communicator = call.communicator(arguments.communicator);
  if (checked.communicator == nullptr) [[unlikely]]
    return checked;
  checked.type = call.datatype(arguments.datatype, arguments.count);
  if (checked.type == nullptr || !call.elements(arguments.count, *checked.type)) [[unlikely]]
    return checked;
  call.address(arguments.buffer, arguments.count, checked.type);
  call.destination(checked.communicator, arguments.destination);
  call.send_tag(arguments.tag);
  return checked;
}

// Whole calls. Flat, as the receives are: what a short message needs is one function, all else is not inlined.
[[nodiscard, gnu::flatten]] int blocking_send(const CallName& name, SendMode mode, const SendArguments& arguments);
[[nodiscard, gnu::flatten]] int nonblocking_send(const CallName& name, SendMode mode, const SendArguments& arguments,
                                                 MPI_Request* request);

// Gives a request that was started a handle.
[[gnu::noinline]] void refuse_request(Call& call, Request* device);  // too many are alive
inline void hand_out(Call& call, Request* device, Communicator& communicator, MPI_Request* handle) {
  const bool sent = device->kind == RequestKind::sent;
  if (sent && call.rank().handles().origins() == nullptr) [[likely]] {
    *handle = call.rank().handles().sent_request();
    return;
  }
  UserRequest* const request = call.rank().handles().add_request(device, communicator);
  if (request == nullptr) [[unlikely]]
    return refuse_request(call, device);
  if (sent) [[unlikely]] {
    request->sent = true;
    ++communicator.references;
  }
  *handle = request->handle;
}

}  // namespace margay::mpi_adi
