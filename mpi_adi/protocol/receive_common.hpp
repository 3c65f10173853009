// What the receive protocols share: the match entry, and the end.
#pragma once

#include "mpi_adi/device/note.hpp"
#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Puts the request's entry before the two catch-alls. Requires: its criteria are set.
inline void list_entry(DeviceParts& parts, ReceiveRequest& request, portals::MatchList::Start start) {
  parts.receive_list.insert_before(parts.heap.first_catch_all(), request.entry, start);
}

// The message that the request got: source, tag, and what it owes its sender.
void take_envelope(ReceiveRequest& request, const portals::Header& header);

// `bytes` of the message are in the user's buffer (or in the packed memory): the receive is over. A synchronous sender
// is told. Requires: the entry is in no list.
void complete_receive(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes);

}  // namespace margay::mpi_adi
