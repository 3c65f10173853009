// The arguments of a send and a receive as the program passed them, the checks of these, and the creation of a handle
// for a started request. Inline, because they are on the path of every message.
#pragma once

#include <cstdint>

#include "mpi/call/call.hpp"
#include "mpi/layers.hpp"
#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/envelope.hpp"

namespace margay::mpi {

// The arguments as the program passed them; nothing is looked up or checked. `count` is in elements of `datatype`, also
// in the bindings with int counts.
struct SendArguments {
  const void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
  int destination;
  int tag;
  MPI_Comm communicator;
};

// The arguments of a receive. `source` may be MPI_ANY_SOURCE, `tag` MPI_ANY_TAG. `count`: the room in the buffer, which
// a message may leave partly unused.
struct ReceiveArguments {
  void* buffer;
  std::int64_t count;
  MPI_Datatype datatype;
  int source;
  int tag;
  MPI_Comm communicator;
};

// Looks up and checks the arguments. After an error the result is incomplete, and the call has the error. Returns at
// the first lookup that fails. The result refers to the program's buffer and to the objects of its handles, and takes
// no reference to them.
[[nodiscard]] inline CheckedSend check_send(Call& call, SendMode mode, const SendArguments& arguments) {
  CheckedSend checked{mode,          arguments.buffer, arguments.count,        nullptr, arguments.destination,
                      arguments.tag, nullptr,          Context::point_to_point};
  // The later checks use the objects that were found, so they are skipped after a failed lookup.
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

// The same for a receive: also a source and a tag that match any message are valid.
[[nodiscard]] inline CheckedReceive check_receive(Call& call, const ReceiveArguments& arguments) {
  CheckedReceive checked{arguments.buffer, arguments.count,        nullptr, arguments.source, arguments.tag,
                         nullptr,          Context::point_to_point};
  // As in check_send().
  checked.communicator = call.communicator(arguments.communicator);
  if (checked.communicator == nullptr) [[unlikely]]
    return checked;
  checked.type = call.datatype(arguments.datatype, arguments.count);
  if (checked.type == nullptr || !call.elements(arguments.count, *checked.type)) [[unlikely]]
    return checked;
  call.address(arguments.buffer, arguments.count, checked.type);
  call.source(checked.communicator, arguments.source);
  call.receive_tag(arguments.tag);
  return checked;
}

// Call::failed() of a send, a receive or a probe with invalid arguments: adds the peer and the tag that the program
// passed to the finding's record. Requires: the call has an error.
[[nodiscard, gnu::noinline]] int refuse(Call& call, int peer, int tag);
// Sets MPI_ERR_OTHER, because 2^18 requests are alive, and gives the request back to the device, which frees it when it
// is complete.
[[gnu::noinline]] void refuse_request(Call& call, Request* device);
// Gives a started request a handle. A send that completed at once has no request: all such sends share one handle. If
// the check of leaks is enabled, each gets a handle of its own. Fails as refuse_request() does; `handle` is then
// unchanged.
inline void hand_out(Call& call, Request* device, Communicator& communicator, MPI_Request* handle) {
  const bool sent = device->kind == RequestKind::sent;
  // The usual case of short messages: the shared handle costs no table entry.
  if (sent && call.rank().handles().origins() == nullptr) [[likely]] {
    *handle = call.rank().handles().sent_request();
    return;
  }
  UserRequest* const request = call.rank().handles().add_request(device, communicator);
  if (request == nullptr) [[unlikely]]
    return refuse_request(call, device);
  // With the check of leaks the send has a handle of its own, which refers to the communicator.
  if (sent) [[unlikely]] {
    request->sent = true;
    ++communicator.references;
  }
  *handle = request->handle;
}

}  // namespace margay::mpi
