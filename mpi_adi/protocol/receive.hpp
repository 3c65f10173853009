// The receive protocols: the steps of a receive from the arrival of its message to its completion. Paper 001: "A posted
// receive needs header information in order to distinguish between different protocols and to obtain message tag and
// source values should these be wildcarded."
#pragma once

#include <string>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

// Handles a change of the receive's descriptor: the message has arrived, or the body that the receive pulls. No effect
// while the row is not filled.
void handle_message(DeviceParts& parts, ReceiveRequest& request);

// Steps that several protocols share: listing the match entry, and the end.

// Puts the request's entry into the match list, active, before the two catch-alls. Requires: its criteria are set.
inline void list_entry(DeviceParts& parts, ReceiveRequest& request) {
  ++*parts.posted_receives;
  parts.receive_list.insert_before(parts.heap.first_catch_all(), request.entry);
}

// Copies the matched message's source, tag and size into the request, and the match bits of the answer that its sender
// awaits. `note`: read from the header.
inline void take_envelope(ReceiveRequest& request, const portals::Header& header, const Note& note) {
  request.source = source_of(header.match_bits);
  request.tag = tag_of(header.match_bits);
  request.peer = header.source.rank;
  request.synchronous = note.synchronous;
  request.answer_bits = note.answer_bits;
  request.sent_bytes = message_bytes(header, note);
  request.truncated = request.sent_bytes > request.room().bytes();
}

// The same for a message that has no note and was saved whole. Its sender awaits no answer. `sent_bytes` stays unset,
// because only messages that are truncated or have a note use it.
inline void take_plain_envelope(ReceiveRequest& request, const portals::Header& header) {
  request.source = source_of(header.match_bits);
  request.tag = tag_of(header.match_bits);
  request.peer = header.source.rank;
  request.synchronous = false;
  request.answer_bits = 0;
  request.truncated = false;
}

// The error message of a truncated receive, with the bytes of the message and of the buffer. Requires: the receive is
// truncated, which implies that sent_bytes is set.
[[nodiscard]] std::string truncation_text(const ReceiveRequest& request);

// The rare part of complete_receive(): sets the error of a truncated message, drops the reference to a layout, answers
// a synchronous sender, and records the receive for the trace and the check of types.
[[gnu::noinline]] void finish_receive(DeviceParts& parts, ReceiveRequest& request);
// Completes a receive; `bytes` of its message are in the program's buffer. Requires: its entry is in no list.
inline void complete_receive(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes) {
  MARGAY_DEBUG_ASSERT(!request.entry.listed() && request.state != ReceiveState::complete);
  request.state = ReceiveState::complete;
  request.bytes = bytes;
  if (request.truncated || request.in_pieces || request.synchronous || parts.recorder().observing()) [[unlikely]]
    finish_receive(parts, request);
  complete(parts, request);
}

// The steps of a receive after it has found its message (receive.cpp, take_unexpected.cpp).

// Gives a message of the heap to a receive: copies it out, or pulls its body, or claims it while its body is still
// arriving. Requires: the request's entry is in no list; `message` is in the heap, queued or unlinked, claimed by no
// receive.
[[gnu::noinline]] void take_unexpected(DeviceParts& parts, ReceiveRequest& request, portals::ArrivedMessage& message);
// Completes the claiming receives whose message has now arrived whole.
[[gnu::noinline]] void complete_claims(DeviceParts& parts);

// Asks the sender of `message` for as much of its body as the request has room for (figure 5). Requires:
// take_envelope() was called, and the entry is in no list.
[[gnu::noinline]] void start_pull(DeviceParts& parts, ReceiveRequest& request, const portals::Header& message);
// Completes a receive whose pulled body of `bytes` is in the program's buffer.
[[gnu::noinline]] void end_pull(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes);

// Notifies `peer` that a receive has taken its message (figures 6 and 7). `answer_bits`: from that message's note.
[[gnu::noinline]] void answer_synchronous(DeviceParts& parts, std::uint32_t peer, portals::MatchBits answer_bits);

}  // namespace margay::mpi_adi
