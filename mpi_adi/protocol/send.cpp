#include "mpi_adi/protocol/send.hpp"

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/observe.hpp"
#include "mpi_adi/protocol/select.hpp"
#include "mpi_adi/protocol/send_common.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

// The short protocol (figure 3): header and body go to the receive portal, and the send is complete "once the kernel
// finishes delivering the message". A short synchronous message (figure 6) also requests an answer. A short ready
// message has the ready bit; a short buffered message is sent like a standard one.

void start_short_send(DeviceParts& parts, SendRequest& request, portals::Header& header) {
  if (request.synchronous) {
    write_note(header.user_data, {NoteProtocol::short_message, true, answer_bits_of(request)});
    // Listed before the message leaves, so that its answer always finds the entry.
    listen(parts, request);
    expect_event(request, kEventSynchronous);
    expect_answer(parts, request);
  }
  // If the wire has no room, the transmission is queued, and the send is complete when the wire has taken it.
  if (!parts.kernel.try_send(header, request.body)) hand_over(parts, request, header, request.body);
  complete_if_finished(parts, request);
}

bool try_short_send(DeviceParts& parts, const CheckedSend& send, std::uint32_t peer, portals::MatchBits bits,
                    const portals::Region& body) {
  MARGAY_DEBUG_ASSERT(body.bytes() <= parts.short_limit(peer));
  portals::Header header = put_header(parts, peer, bits, body.bytes());
  // One test for trace and check together.
  if (parts.recorder().observing()) [[unlikely]]
    return observed_try_send(parts, send, header, body);
  return parts.kernel.try_send(header, body);
}

namespace {

portals::MatchBits send_bits(const CheckedSend& send) {
  return envelope_bits(send.tag, send.communicator->rank(), context_of(*send.communicator, send.context),
                       send.mode == SendMode::ready ? kReadyBit : 0);
}

void add(ProtocolCounts::Count& count, std::uint64_t bytes) {
  ++count.messages;
  count.bytes += bytes;
}

// Counts a send at its start. Long standard and synchronous messages are counted later, when it is known whether their
// body is matched or pulled (take_acknowledgment(), start_rendezvous_send()). Inlined, because it is on each send's
// path.
[[gnu::always_inline]] inline void count_send(ProtocolCounts& counts, SendMode mode, SendShape shape,
                                              std::uint64_t bytes) {
  if (mode == SendMode::buffered) {
    add(counts.buffered, bytes);
  } else if (mode == SendMode::ready) {
    add(counts.ready, bytes);
  } else if (shape == SendShape::short_message) {
    add(mode == SendMode::synchronous ? counts.synchronous_short : counts.short_, bytes);
  }
}

}  // namespace

SendRequest& start_send(DeviceParts& parts, const CheckedSend& send) {
  SendRequest& request = new_send(parts, *send.communicator);
  request.peer = send.communicator->world_rank(send.destination);
  request.tag = send.tag;
  request.body = request.pieces.to_send(send.buffer, send.count, *send.type);
  request.synchronous = send.mode == SendMode::synchronous;
  request.buffered = send.mode == SendMode::buffered;
  const std::uint64_t bytes = request.body.bytes();
  // Each wire has its own limit, so a message of the same size may be short to one peer and long to another.
  const ProtocolChoice choice = select_protocol(parts, send.mode, bytes, request.peer);
  request.protocol = choice.protocol;
  portals::Header header = put_header(parts, request.peer, send_bits(send), bytes);
  if (parts.recorder().observing()) [[unlikely]]
    // Before the message is sent, because the check of types writes into its header.
    observe_send(parts, send, choice, request, header);
  count_send(parts.counts, send.mode, choice.shape, bytes);
  switch (choice.shape) {
    case SendShape::short_message:
      start_short_send(parts, request, header);
      break;
    case SendShape::long_message:
      start_long_send(parts, request, header);
      break;
    case SendShape::rendezvous:
      start_rendezvous_send(parts, request, header);
      break;
    case SendShape::ready_long:
      start_long_ready_send(parts, request, header);
      break;
  }
  return request;
}

bool send_now(DeviceParts& parts, const CheckedSend& send) {
  // The other two modes need a request: a synchronous send awaits an answer, and a buffered send keeps a copy of the
  // program's data.
  if (send.mode != SendMode::standard && send.mode != SendMode::ready) return false;
  const std::uint32_t peer = send.communicator->world_rank(send.destination);
  const Datatype& type = *send.type;
  const std::uint64_t bytes = static_cast<std::uint64_t>(send.count) * type.size;
  // The least limit is tested first, so most messages need no look-up of their peer's wire.
  if (bytes > parts.short_limit_least && bytes > parts.short_limit(peer)) return false;
  const portals::MatchBits bits = send_bits(send);
  // The device's scratch keeps the layout: the region is needed within this call only, so no request has to own it.
  const portals::Region& body = parts.scratch.to_send(send.buffer, send.count, type);
  const bool sent = try_short_send(parts, send, peer, bits, body);
  if (!type.dense()) [[unlikely]]
    parts.scratch.clear();
  // Counted only when sent: start_send() counts a message that it takes over.
  if (sent) add(send.mode == SendMode::ready ? parts.counts.ready : parts.counts.short_, bytes);
  return sent;
}

namespace {

// Handles an answer of the receiver's device, other than the kernel's acknowledgment.
void take_answer(SendRequest& request, const portals::Header& header) {
  switch (static_cast<Answer>(header.user_data[0])) {
    case Answer::not_returned:
      return finish_event(request, kEventCancel);
    case Answer::returned:
      request.cancelled = true;
      return;
    // Values come from a wire, so an unknown one is possible. It counts as synchronous, which is also the value of
    // empty user data.
    case Answer::synchronous:
    default:
      return finish_event(request, kEventSynchronous);
  }
}

}  // namespace

void end_transmission(DeviceParts& parts, SendRequest& request) {
  finish_event(request, kEventBodyTaken);
  // A wire that has failed does not deliver answers either, so the send waits for nothing any more.
  if (request.transmission.state == sim::Transmission::State::failed) {
    request.error_class = MPIX_ERR_PROC_FAILED;
    request.events = 0;
  }
  complete_if_finished(parts, request);
}

// Tests each row, because a change may be reported late: the send is complete then, and the pooled request may already
// serve another send.
void take_answers(DeviceParts& parts, SendRequest& request) {
  for (std::size_t row = 0; row < request.answers.size(); ++row) {
    portals::IndependentBuffer& answer = request.answers[row];
    if (answer.state != portals::IndependentBuffer::State::filled) continue;
    // A copy: the row is released before its answer is handled, which may complete the send.
    const portals::Header header = answer.header;
    request.answer_block.release(row);
    // A late answer to a send that is complete. Its row is released above, and the answer is ignored.
    if (!request.listening) continue;
    if (header.kind == portals::Kind::acknowledgment) {
      take_acknowledgment(parts, request, header);
    } else {
      take_answer(request, header);
    }
  }
  if (!request.listening) return;
  // A cancelled message that was returned gets no further answer; only the kernel may still refer to its body. Tested
  // after all rows, because the rows form a circle, and an acknowledgment that arrived earlier may lie in a later row.
  // If it were handled after this test, the send would wait for a pull.
  if (request.cancelled) request.events &= kEventBodyTaken;
  complete_if_finished(parts, request);
}

void take_pull(DeviceParts& parts, SendRequest& request) {
  // This is a late change from an earlier use of the pooled request.
  if (!request.readable) return;
  request.read_done = true;
  finish_event(request, kEventRead);
  complete_if_finished(parts, request);
}

}  // namespace margay::mpi_adi
