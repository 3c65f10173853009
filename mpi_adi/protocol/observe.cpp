#include "mpi_adi/protocol/observe.hpp"

#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/trace_definitions.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/device/wildcard_watch.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

// `sequence`: the message's number in its pair. `stamp`: when the send began, which is before the kernel took it.
void record_send(DeviceParts& parts, const CheckedSend& send, const ProtocolChoice& choice,
                 const portals::Header& header, std::uint64_t sequence, std::uint32_t request, std::uint64_t stamp) {
  sim::TraceEvent event;
  event.kind = sim::TraceKind::send_begin;
  event.protocol = choice.protocol;
  event.reason = static_cast<std::uint8_t>(choice.reason);
  event.source = parts.kernel.me().rank;
  event.destination = header.destination.rank;
  event.sequence = sequence;
  event.match_bits = header.match_bits;
  event.bytes = header.length;
  event.detail = static_cast<std::uint64_t>(send.described().count);
  event.a = request;
  // The event of a buffered send describes the program's call, and marks that the body was copied.
  if (send.copied_from != nullptr && header.length != 0) event.saved = portals::Saved::body;
  define_in_trace(parts.recorder(), *send.communicator, stamp);
  event.b = define_in_trace(parts.recorder(), *send.described().type, stamp);
  parts.recorder().record(event, stamp);
}

// The signature is that of the program's datatype, even if the body was copied into a buffer as bytes.
void mark_types(DeviceParts& parts, const CheckedSend& send, portals::Header& header) {
  if (parts.type_check == nullptr) return;
  parts.type_check->begin_send(*send.described().type, header.length, send.context != Context::point_to_point);
  parts.type_check->mark(header.user_data);
}

}  // namespace

void observe_send(DeviceParts& parts, const CheckedSend& send, const ProtocolChoice& choice, SendRequest& request,
                  portals::Header& header) {
  if (parts.recorder().on()) {
    // The number that the kernel will give the message. Under the process lock, no other message of the pair can be
    // sent before it.
    request.sequence = parts.kernel.registers().sent(request.peer) + 1;
    record_send(parts, send, choice, header, request.sequence, request.pooled.index, parts.recorder().stamp());
  }
  mark_types(parts, send, header);
  if (parts.held_receives != nullptr) parts.held_receives->sent(header);
}

bool observed_try_send(DeviceParts& parts, const CheckedSend& send, portals::Header& header,
                       const portals::Region& body) {
  sim::Recorder& recorder = parts.recorder();
  mark_types(parts, send, header);
  // The time is taken before the send, and the event recorded after it, when its number is known.
  const std::uint64_t stamp = recorder.on() ? recorder.stamp() : 0;
  if (!parts.kernel.try_send(header, body)) return false;
  if (parts.held_receives != nullptr) parts.held_receives->sent(header);
  if (recorder.on()) {
    const std::uint32_t peer = header.destination.rank;
    record_send(parts, send, select_protocol(parts, send.mode, header.length, peer), header,
                parts.kernel.registers().sent(peer), sim::kTraceNoRequest, stamp);
  }
  return true;
}

void observe_post(DeviceParts& parts, ReceiveRequest& request, const CheckedReceive& receive, Datatype& reported) {
  const portals::Criteria& criteria = request.entry.criteria();
  if (parts.recorder().on()) {
    define_in_trace(parts.recorder(), *receive.communicator);
    trace_request(parts, sim::TraceKind::post_receive, request, request.room().bytes(), criteria.match_bits,
                  criteria.ignore_bits, define_in_trace(parts.recorder(), reported));
  }
  if (parts.type_check != nullptr) {
    parts.type_check->begin_receive(request, *receive.type, receive.count, receive.context != Context::point_to_point);
  }
}

portals::ArrivedMessage* observed_search(DeviceParts& parts, ReceiveRequest& request) {
  const portals::Criteria& criteria = request.entry.criteria();
  portals::ArrivedMessage* const message = parts.heap.find(criteria);
  if (message == nullptr && parts.recorder().on()) {
    trace_request(parts, sim::TraceKind::search_miss, request, 0, criteria.match_bits);
  }
  return message;
}

void observe_hit(DeviceParts& parts, ReceiveRequest& request, const portals::ArrivedMessage& message) {
  const portals::Header& header = message.header;
  MARGAY_ASSERT(request.peer == header.source.rank);
  if (parts.recorder().on()) {
    request.sequence = parts.message_numbers.take(message);
    const bool was_taken_out = message.claim != nullptr;  // by a matched probe
    trace_request(parts, sim::TraceKind::search_hit, request, message_bytes(header), header.match_bits, 0, 0,
                  was_taken_out ? 1 : 0);
  }
  if (parts.type_check != nullptr) parts.type_check->record_message(request, header);
}

}  // namespace margay::mpi_adi
