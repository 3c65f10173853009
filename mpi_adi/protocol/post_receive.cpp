#include "mpi_adi/protocol/post_receive.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/wildcard_watch.hpp"
#include "mpi_adi/protocol/observe.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/receive.hpp"

namespace margay::mpi_adi {

ReceiveRequest& prepare_receive(DeviceParts& parts, void* buffer, std::int64_t count, Datatype& type,
                                Communicator& communicator) {
  ReceiveRequest& request = new_receive(parts, communicator);
  request.in_pieces = !type.dense();
  request.row[0].memory = request.pieces.to_receive(buffer, count, type);
  return request;
}

namespace {

// Out of line, so that the common path pays one load and a branch for the losses.
[[gnu::noinline]] void end_if_source_lost(DeviceParts& parts, const CheckedReceive& receive, ReceiveRequest& request) {
  if (is_source_lost(parts, *receive.communicator, receive.source)) end_receive_of_lost(parts, request);
}

// The body of both public functions, inlined so that neither pays a call. `reported`: the type that a trace reports;
// nullptr: the receive's own type.
[[gnu::always_inline]] inline ReceiveRequest& post(DeviceParts& parts, const CheckedReceive& receive,
                                                   Datatype* reported) {
  ReceiveRequest& request = prepare_receive(parts, receive.buffer, receive.count, *receive.type, *receive.communicator);
  request.source = receive.source;
  request.tag = receive.tag;
  // Unless the source is a wildcard, the peer is known now. The test for a lost sender then needs no search of the
  // group.
  if (receive.source != MPI_ANY_SOURCE) request.peer = receive.communicator->world_rank(receive.source);
  // Built in the entry itself: a copy from the stack would be a store-forwarding stall.
  request.entry.set_criteria(
      receive_criteria(receive.source, receive.tag, context_of(*receive.communicator, receive.context)));
  // The paper lists the entry inactive before it searches. Here nothing is delivered between the search and the
  // listing. So the entry is listed after the search, and only if the search fails.
  portals::ArrivedMessage* message = nullptr;
  if (parts.recorder().observing()) [[unlikely]] {
    observe_post(parts, request, receive, reported == nullptr ? *receive.type : *reported);
    if (parts.held_receives != nullptr && parts.held_receives->hold(request, receive)) return request;
    message = observed_search(parts, request);
  } else {
    message = parts.heap.find(request.entry.criteria());
  }
  if (message != nullptr) {
    take_unexpected(parts, request, *message);
    return request;
  }
  posting_gap(parts, receive);  // empty, except in a lab
  list_entry(parts, request);
  request.state = ReceiveState::posted;
  // After the listing, because a posted receive that ends removes its entry from the list.
  if (parts.kernel.initiator().losses() != 0) [[unlikely]]
    end_if_source_lost(parts, receive, request);
  return request;
}

}  // namespace

ReceiveRequest& post_receive(DeviceParts& parts, const CheckedReceive& receive) {
  return post(parts, receive, nullptr);
}

ReceiveRequest& post_receive_of(DeviceParts& parts, const CheckedReceive& receive, Datatype& traced_type) {
  return post(parts, receive, &traced_type);
}

}  // namespace margay::mpi_adi
