// What the receive protocols share: the match entry, and the end.
#pragma once

#include <string>

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/parts.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

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

// What complete_receive() seldom has to do: an error for a truncated message, references of a buffer in pieces given
// back, an answer to a synchronous sender, a note for who looks.
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

}  // namespace margay::mpi_adi
