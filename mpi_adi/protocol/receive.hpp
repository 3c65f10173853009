// The receive protocols: a receive from its message to its end. "A posted receive needs header information in order to
// distinguish between different protocols and to obtain message tag and source values should these be wildcarded."
#pragma once

#include <string>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

// The receive's descriptor changed: its message is there, or the body that it pulled.
void message_came(DeviceParts& parts, ReceiveRequest& request);

// Common steps: the match entry, and the end.

// Puts the request's entry before the two catch-alls, active. Requires: its criteria are set.
inline void list_entry(DeviceParts& parts, ReceiveRequest& request) {
  ++*parts.posted_receives;
  parts.receive_list.insert_before(parts.heap.first_catch_all(), request.entry);
}

// The message that the request got: source, tag, and what it owes its sender. `note`: the header's.
inline void take_envelope(ReceiveRequest& request, const portals::Header& header, const Note& note) {
  request.source = source_of(header.match_bits);
  request.tag = tag_of(header.match_bits);
  request.peer = header.source.rank;
  request.synchronous = note.synchronous;
  request.answer_bits = note.answer_bits;
  request.sent_bytes = message_bytes(header, note);
  request.truncated = request.sent_bytes > request.room().bytes();
}

// The same of a message without a note, all of it saved: it owes its sender nothing.
inline void take_plain_envelope(ReceiveRequest& request, const portals::Header& header) {
  request.source = source_of(header.match_bits);
  request.tag = tag_of(header.match_bits);
  request.peer = header.source.rank;
  request.synchronous = false;
  request.answer_bits = 0;
  request.truncated = false;
}

// Why a truncated one failed.
[[nodiscard]] std::string words_of_truncation(const ReceiveRequest& request);

// The rare part of complete_receive(): the error of a truncated message, the references of a buffer in pieces, the
// answer to a synchronous sender, the trace and the check of types.
[[gnu::noinline]] void tell_receive(DeviceParts& parts, ReceiveRequest& request);
// `bytes` of the message are in the user's buffer: the receive is over. Requires: the entry is in no list.
inline void complete_receive(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes) {
  MARGAY_DEBUG_ASSERT(!request.entry.listed() && request.state != ReceiveState::complete);
  request.state = ReceiveState::complete;
  request.bytes = bytes;
  if (request.truncated || request.in_pieces || request.synchronous || parts.recorder().watched()) [[unlikely]]
    tell_receive(parts, request);
  complete(parts, request);
}

// The steps of a receive that has found its message (receive.cpp, take_unexpected.cpp).

// Requires: the request's entry is in no list; `message` is in the heap, queued or unlinked, claimed by nobody.
[[gnu::noinline]] void take_unexpected(DeviceParts& parts, ReceiveRequest& request, portals::ArrivedMessage& message);
// The heap changed: receives whose message is all there now complete.
[[gnu::noinline]] void heap_changed(DeviceParts& parts);

// Asks the sender of `message` for as much of its body as the request has room for. Requires: take_envelope() was
// called, the entry is in no list.
[[gnu::noinline]] void start_pull(DeviceParts& parts, ReceiveRequest& request, const portals::Header& message);
// The reply is in the user's buffer.
[[gnu::noinline]] void pull_came(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes);

// Notifies `peer` that a receive has taken its message. `answer_bits`: from that message.
[[gnu::noinline]] void answer_synchronous(DeviceParts& parts, std::uint32_t peer, portals::MatchBits answer_bits);

}  // namespace margay::mpi_adi
