// The step in which a receive takes a message out of the heap: "the message is copied out of the heap and the space in
// the heap is freed". If only its header was saved, its body is pulled.
#include <algorithm>

#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/observe.hpp"
#include "mpi_adi/protocol/receive.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

void copy_out(DeviceParts& parts, ReceiveRequest& request, portals::ArrivedMessage& message) {
  // The heap has the message whole; the buffer may be shorter, and the receive is then truncated.
  const std::uint64_t bytes = std::min<std::uint64_t>(message.body.bytes, request.room().bytes());
  if (bytes != 0) portals::copy(request.room(), portals::Region(message.body.base, bytes));
  parts.heap.release(message);
  complete_receive(parts, request, bytes);
}

}  // namespace

void take_unexpected(DeviceParts& parts, ReceiveRequest& request, portals::ArrivedMessage& message) {
  MARGAY_ASSERT(!request.entry.listed() && request.claimed == nullptr);
  ++parts.counts.unexpected;
  const portals::Header& header = message.header;
  take_envelope(request, header, read_note(header.user_data));
  if (parts.recorder().observing()) [[unlikely]]
    observe_hit(parts, request, message);
  if (message.saved == portals::Saved::header) {
    const portals::Header asked = header;  // a copy, because release() frees the header with the message
    parts.heap.release(message);
    start_pull(parts, request, asked);
  } else if (message.complete) {
    copy_out(parts, request, message);
  } else {
    // If a matched probe found the message, the probe has already unlinked and claimed it.
    if (message.claim == nullptr) parts.heap.unlink(message);
    message.claim = &request;
    request.claimed = &message;
    request.state = ReceiveState::claiming;
    // The list's order does not matter: each receive waits for its own message.
    request.next_claiming = parts.claiming;
    parts.claiming = &request;
  }
}

void complete_claims(DeviceParts& parts) {
  for (ReceiveRequest** at = &parts.claiming; *at != nullptr;) {
    ReceiveRequest& request = **at;
    MARGAY_ASSERT(request.state == ReceiveState::claiming && request.claimed != nullptr);
    // If the sender of an incomplete message is lost, the heap frees the message's memory. So the memory must not be
    // touched here, and protocol/peer_lost ends the receive.
    if (parts.kernel.initiator().is_unreachable(request.peer) || !request.claimed->complete) {
      at = &request.next_claiming;
      continue;
    }
    *at = request.next_claiming;
    copy_out(parts, request, *request.claimed);
  }
}

}  // namespace margay::mpi_adi
