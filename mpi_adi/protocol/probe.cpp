#include "mpi_adi/protocol/probe.hpp"

#include <utility>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/device/wildcard_watch.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/peer_lost.hpp"
#include "mpi_adi/protocol/post_receive.hpp"
#include "mpi_adi/protocol/receive.hpp"

namespace margay::mpi_adi {

namespace {

Envelope envelope_of(const portals::Header& header) {
  return {source_of(header.match_bits), tag_of(header.match_bits), message_bytes(header)};
}

// `takes_out`: the message leaves the heap.
portals::ArrivedMessage* find(DeviceParts& parts, const portals::Criteria& criteria, bool takes_out) {
  if (parts.held_receives != nullptr) [[unlikely]]
    return parts.held_receives->probe(criteria, takes_out);
  return parts.heap.find(criteria);
}

// Records a probe that found a message. A poll that finds none is only counted, because a program that polls would fill
// the trace's ring with events.
void record_probe(DeviceParts& parts, sim::TraceProbe call, const portals::ArrivedMessage* found) {
  if (found == nullptr) {
    const bool polls = call == sim::TraceProbe::iprobe || call == sim::TraceProbe::improbe;
    parts.empty_polls += polls ? 1 : 0;
    return;
  }
  const std::uint32_t empty_polls = std::exchange(parts.empty_polls, 0);
  if (!parts.recorder().on()) return;
  sim::TraceEvent event = trace_event(sim::TraceKind::found, found->header, parts.message_numbers.of(*found));
  event.bytes = message_bytes(found->header);
  event.reason = static_cast<std::uint8_t>(call);
  event.a = empty_polls;
  parts.recorder().record(event);
}

}  // namespace

bool probe(DeviceParts& parts, int source, int tag, const Communicator& communicator, Context context,
           Envelope& envelope, std::optional<sim::TraceProbe> call) {
  const portals::Criteria criteria = receive_criteria(source, tag, context_of(communicator, context));
  // The library's own probes are not held by an exploration.
  const portals::ArrivedMessage* const found = call ? find(parts, criteria, false) : parts.heap.find(criteria);
  if (call) record_probe(parts, *call, found);
  if (found == nullptr) return false;
  envelope = envelope_of(found->header);
  return true;
}

Message* matched_probe(DeviceParts& parts, int source, int tag, Communicator& communicator, Envelope& envelope,
                       sim::TraceProbe call) {
  portals::ArrivedMessage* const found = find(parts, receive_criteria(source, tag, communicator.context), true);
  record_probe(parts, call, found);
  if (found == nullptr) return nullptr;
  envelope = envelope_of(found->header);
  // The message is unlinked and claimed. So no search finds it, and its memory stays until a receive takes it.
  Message& message = parts.messages.take();
  parts.heap.unlink(*found);
  found->claim = &message;
  message.arrived = found;
  message.communicator = &communicator;
  message.peer = found->header.source.rank;
  message.was_complete = found->complete;
  // The message refers to its communicator, because the program may free the handle before it receives.
  ++communicator.references;
  return &message;
}

ReceiveRequest& start_matched_receive(DeviceParts& parts, void* buffer, std::int64_t count, Datatype& type,
                                      Message& message) {
  ReceiveRequest& request = prepare_receive(parts, buffer, count, type, *message.communicator);
  request.peer = message.peer;
  if (parts.type_check != nullptr) parts.type_check->begin_receive(request, type, count, false);
  if (parts.recorder().on()) {
    define_in_trace(parts.recorder(), *message.communicator);
    // The trace shows a receive with exactly this message's envelope. Its criteria ignore the type bits, as those of
    // any receive do.
    trace_request(parts, sim::TraceKind::post_receive, request, request.room().bytes(),
                  message.arrived->header.match_bits & ~(kReadyBit | kLongBit), kReadyBit | kLongBit,
                  define_in_trace(parts.recorder(), type));
  }
  // The heap may have freed an incomplete message whose sender is lost. A message that was complete when probed is
  // still there, and is received. (If only its header was saved, the pull of its body fails.)
  if (!message.was_complete && parts.kernel.initiator().is_unreachable(message.peer)) {
    end_receive_of_lost(parts, request);
  } else {
    take_unexpected(parts, request, *message.arrived);
  }
  // The request has its own reference by now, so the communicator stays.
  drop_reference(parts, *message.communicator);
  parts.messages.give_back(message);
  return request;
}

}  // namespace margay::mpi_adi
