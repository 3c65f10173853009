#include "mpi_adi/protocol/cancel.hpp"

#include "mpi_adi/protocol/complete.hpp"

namespace margay::mpi_adi {

void cancel(DeviceParts& parts, Request& request) {
  if (request.complete || request.kind != RequestKind::receive) return;
  auto& receive = static_cast<ReceiveRequest&>(request);
  // A row that is reserved or filled has its message.
  const bool unmatched = receive.row[0].state == portals::IndependentBuffer::State::available;
  if (receive.state != ReceiveState::posted || !unmatched) return;
  parts.receive_list.remove(receive.entry);
  receive.state = ReceiveState::complete;
  receive.cancelled = true;
  receive.pieces.clear();
  complete(parts, receive);
}

}  // namespace margay::mpi_adi
