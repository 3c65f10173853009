#include "mpi_adi/protocol/complete.hpp"

#include "mpi_adi/abi/mpi.h"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

// Sets all fields that a pooled request may have from its last use.
void begin(DeviceParts& parts, Request& request, RequestKind kind, Communicator& communicator) {
  request.kind = kind;
  request.complete = false;
  request.cancelled = false;
  request.detached = false;
  request.error_class = MPI_SUCCESS;
  request.source = MPI_ANY_SOURCE;
  request.tag = MPI_ANY_TAG;
  request.bytes = 0;
  request.sequence = 0;
  request.communicator = &communicator;
  request.owner = nullptr;
  ++communicator.references;
  ++parts.incomplete_requests;
}

// A request's number in its pool, which the trace shows.
std::uint32_t index_of(const Request& request) {
  return request.kind == RequestKind::send ? static_cast<const SendRequest&>(request).pooled.index
                                           : static_cast<const ReceiveRequest&>(request).pooled.index;
}

void give_back(DeviceParts& parts, Request& request) {
  // The common request of sends that were complete at their start is not pooled.
  if (request.kind == RequestKind::sent) return;
  drop_reference(parts, *request.communicator);
  request.communicator = nullptr;
  if (request.kind == RequestKind::send) {
    parts.sends.give_back(static_cast<SendRequest&>(request));
  } else {
    parts.receives.give_back(static_cast<ReceiveRequest&>(request));
  }
}

}  // namespace

SendRequest& new_send(DeviceParts& parts, Communicator& communicator) {
  // Called once for each object of the pool, because the owner tags never change.
  SendRequest& request = parts.sends.take([](SendRequest& made) {
    made.answer_block.set_owner_tag(&made, kOwnerAcknowledgment);
    made.transmission.owner = &made;
    made.transmission.owner_tag_kind = kOwnerSend;
  });
  MARGAY_DEBUG_ASSERT(!request.listening && !request.readable && !request.expecting);
  ++parts.counts.send_requests;
  begin(parts, request, RequestKind::send, communicator);
  // Resets only the fields that a send may read before it writes them; the protocols set the others.
  request.events = 0;
  request.read_done = false;
  request.synchronous = false;
  request.buffered = false;
  request.transmission.state = sim::Transmission::State::idle;
  return request;
}

ReceiveRequest& new_receive(DeviceParts& parts, Communicator& communicator) {
  // All fields of the entries except the criteria are the same for each receive, so they are set once for each pooled
  // object, and posting writes only the criteria. The overflow entry belongs to the list permanently. It accepts every
  // message that reaches it; only the too-small link of its own request's entry leads to it.
  ReceiveRequest& request = parts.receives.take([&parts](ReceiveRequest& made) {
    portals::Options both;
    both.save = portals::Save::both;
    both.acknowledge = true;  // applies to messages that name a return portal: long ones
    made.entry.set({}, made.block, both,
                   {portals::Link::next(), portals::Link::next(), portals::Link::at(made.overflow)});
    portals::Options what_fits = both;
    what_fits.truncate = true;
    made.overflow.set({0, ~portals::MatchBits{0}}, made.block, what_fits);
    parts.receive_list.adopt(made.overflow);
  });
  MARGAY_DEBUG_ASSERT(!request.entry.listed() && !request.expecting);
  begin(parts, request, RequestKind::receive, communicator);
  request.state = ReceiveState::idle;
  request.truncated = false;
  request.synchronous = false;
  request.peer = portals::kAnyRank;
  request.claimed = nullptr;
  return request;
}

void finish_completion(DeviceParts& parts, Request& request) {
  MARGAY_ASSERT(request.complete);
  // Recorded before give_back(), while the request still has its identity.
  if (parts.recorder().on()) {
    trace_request(parts, sim::TraceKind::request_complete, request, request.bytes, 0, 0,
                  static_cast<std::uint32_t>(request.error_class), request.cancelled ? sim::kTraceCancelled : 0);
  }
  if (!request.detached) return;
  // The parent reads the part's result, so the part returns to its pool only afterwards.
  if (request.owner != nullptr) request.owner->part_completed(request);
  give_back(parts, request);
}

void release(DeviceParts& parts, Request& request) {
  MARGAY_ASSERT(!request.detached);
  if (request.complete) {
    give_back(parts, request);
  } else {
    request.detached = true;
  }
}

void release_to(DeviceParts& parts, ParentRequest& owner, Request& request) {
  MARGAY_ASSERT(!request.detached);
  // The request is already complete, so complete() will not notify the parent; this call does.
  if (request.complete) {
    owner.part_completed(request);
    give_back(parts, request);
  } else {
    request.owner = &owner;
    request.detached = true;
  }
}

void complete_null(DeviceParts& parts, Request& request) {
  request.source = MPI_PROC_NULL;
  request.tag = MPI_ANY_TAG;
  complete(parts, request);
}

// The event names the message's source and destination, so sender and receiver record the same pair. This rank is the
// source of a send, and the destination of a receive.
void trace_request(DeviceParts& parts, sim::TraceKind kind, const Request& request, std::uint64_t bytes,
                   portals::MatchBits match_bits, std::uint64_t detail, std::uint32_t b, std::uint8_t reason) {
  sim::TraceEvent event;
  event.kind = kind;
  const std::uint32_t me = parts.kernel.me().rank;
  if (request.kind == RequestKind::send) {
    const auto& send = static_cast<const SendRequest&>(request);
    event.source = me;
    event.destination = send.peer;
    event.protocol = send.protocol;
  } else {
    event.source = static_cast<const ReceiveRequest&>(request).peer;
    event.destination = me;
  }
  event.match_bits = match_bits;
  event.sequence = request.sequence;
  event.bytes = bytes;
  event.detail = detail;
  event.a = index_of(request);
  event.b = b;
  event.reason = reason;
  parts.recorder().record(event);
}

}  // namespace margay::mpi_adi
