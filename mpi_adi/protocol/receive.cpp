#include "mpi_adi/protocol/receive.hpp"

#include <algorithm>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/device/wildcard_watch.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/header_message.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

std::string truncation_text(const ReceiveRequest& request) {
  return "the message from rank " + std::to_string(request.source) + " with tag " + std::to_string(request.tag) +
         " has " + std::to_string(request.sent_bytes) + " bytes, and the receive's buffer " +
         std::to_string(request.room().bytes());
}

void finish_receive(DeviceParts& parts, ReceiveRequest& request) {
  // Set before complete(), which records the error class.
  if (request.truncated) request.error_class = MPI_ERR_TRUNCATE;
  if (request.in_pieces) request.pieces.clear();
  if (parts.recorder().on()) trace_request(parts, sim::TraceKind::receive_complete, request, request.bytes);
  if (parts.type_check != nullptr) parts.type_check->end_receive(request);
  if (parts.held_receives != nullptr) parts.held_receives->completed(request);
  if (!request.synchronous) return;
  if (parts.recorder().on()) {
    trace_request(parts, sim::TraceKind::synchronous_answer, request, 0, request.answer_bits,
                  parts.kernel.registers().sent(request.peer) + 1);
  }
  // The answer is the next message to this peer, so the event above has the answer's number.
  answer_synchronous(parts, request.peer, request.answer_bits);
}

namespace {

// Handles all messages but the plain short one that fits: the reply to a pull, a message with a note, and a truncated
// message. Out of line, so that the common message does not pay for its registers.
[[gnu::noinline]] void handle_other_message(DeviceParts& parts, ReceiveRequest& request) {
  const portals::IndependentBuffer& row = request.row[0];
  if (request.state == ReceiveState::pulling) return end_pull(parts, request, row.bytes);
  const Note note = read_note(row.header.user_data);
  take_envelope(request, row.header, note);
  // A rendezvous delivers the header only. A header without answer bits names no body to pull; this is checked, because
  // bytes from a wire may be invalid.
  const bool pull = note.protocol == NoteProtocol::rendezvous && request.answer_bits != 0;
  if (!pull || request.sent_bytes == 0) return complete_receive(parts, request, row.bytes);
  const portals::Header message = row.header;  // a copy, because the reply overwrites the row
  // At the end the row has the reply's header, so the check of types reads the message's header now.
  if (parts.type_check != nullptr) parts.type_check->record_message(request, message);
  start_pull(parts, request, message);
}

}  // namespace

void handle_message(DeviceParts& parts, ReceiveRequest& request) {
  const portals::IndependentBuffer& row = request.row[0];
  // A body that arrives in parts changes the descriptor before it is whole.
  if (row.state != portals::IndependentBuffer::State::filled) return;
  MARGAY_DEBUG_ASSERT(*parts.posted_receives != 0);
  --*parts.posted_receives;
  parts.receive_list.remove(request.entry);
  // The row is free for the next receive. Until then its header and count stay as they are, because no entry leads to
  // it.
  request.block.release(0);
  // One test each for the three rare cases, so a plain message is complete after a few stores.
  const bool whole = row.bytes == row.header.length;
  if (!whole || has_note(row.header.user_data) || request.state != ReceiveState::posted) [[unlikely]]
    return handle_other_message(parts, request);
  take_plain_envelope(request, row.header);
  complete_receive(parts, request, row.bytes);
}

// The receiver's part of synchronous messages (figures 6 and 7): "the receiver sends back a synchronous acknowledgment
// ... to the same portal as long send acknowledgments". For a pulled message the acknowledgment is sent "upon arrival
// of the pulled messages".
void answer_synchronous(DeviceParts& parts, std::uint32_t peer, portals::MatchBits answer_bits) {
  portals::Header header;
  header.kind = portals::Kind::put;
  header.portal = kAcknowledgmentPortal;
  header.destination = {parts.kernel.me().group, peer};
  header.match_bits = answer_bits;
  send_header(parts, header);
}

// The pull of a body that the kernel did not save (figure 5): "the match bits are changed to accept a pulled message,
// and a message is sent to the sender to pull the data across." For synchronous messages the extra answer follows the
// pull (figure 7).
void start_pull(DeviceParts& parts, ReceiveRequest& request, const portals::Header& message) {
  MARGAY_ASSERT(!request.entry.listed() && !request.expecting);
  request.state = ReceiveState::pulling;
  portals::Criteria criteria;
  criteria.match_bits = reply_bits(request.pooled.index, request.pooled.generation);
  criteria.source_rank = request.peer;
  request.entry.set_criteria(criteria);
  // Listed before the get leaves, so that the reply always finds the entry.
  list_entry(parts, request);

  portals::Header get;
  get.kind = portals::Kind::get;
  get.portal = kReadPortal;
  get.destination = message.source;
  get.match_bits = request.answer_bits;
  get.return_portal = kReceivePortal;
  get.return_match_bits = criteria.match_bits;
  // No more than the buffer has room for, so a body that is too long is truncated at its source.
  get.return_length = std::min(message_bytes(message), request.room().bytes());
  if (parts.recorder().on()) {
    trace_request(parts, sim::TraceKind::pull_begin, request, get.return_length, get.match_bits,
                  parts.kernel.registers().sent(request.peer) + 1);
  }
  // The sender may be computing; the kernel then wakes its coprocessor to deliver the get.
  parts.kernel.expect_answer(request.peer);
  request.expecting = true;
  send_header(parts, get);
}

void end_pull(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes) {
  MARGAY_ASSERT(request.expecting && request.state == ReceiveState::pulling);
  parts.kernel.count_answer(request.peer);
  request.expecting = false;
  if (parts.recorder().on()) trace_request(parts, sim::TraceKind::pull_complete, request, bytes);
  complete_receive(parts, request, bytes);
}

}  // namespace margay::mpi_adi
