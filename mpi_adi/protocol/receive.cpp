#include "mpi_adi/protocol/receive.hpp"

#include "mpi_adi/protocol/pull.hpp"
#include "mpi_adi/protocol/receive_common.hpp"

namespace margay::mpi_adi {

namespace {

// Only the header is here: of a rendezvous, or of a message that the room is too small for. What can be pulled is; the
// body of a truncated short or ready message has passed by.
void header_came(DeviceParts& parts, ReceiveRequest& request, const portals::Header& header) {
  take_envelope(request, header);
  if (request.answer_bits != 0 && read_note(header.user_data).protocol != NoteProtocol::short_message) {
    start_pull(parts, request, header);
  } else {
    complete_receive(parts, request, request.room().bytes());
  }
}

}  // namespace

void message_came(DeviceParts& parts, ReceiveRequest& request) {
  portals::IndependentBuffer& row = request.row[0];
  if (row.state != portals::IndependentBuffer::State::filled) return;
  parts.receive_list.remove(request.entry);
  request.block.release(0);
  if (request.state == ReceiveState::pulling) {
    pull_came(parts, request, row.bytes);
  } else if (row.bytes != message_bytes(row.header)) {
    header_came(parts, request, portals::Header(row.header));
  } else {
    take_envelope(request, row.header);
    complete_receive(parts, request, row.bytes);
  }
}

}  // namespace margay::mpi_adi
