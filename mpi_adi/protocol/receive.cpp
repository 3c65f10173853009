#include "mpi_adi/protocol/receive.hpp"

#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/protocol/pull.hpp"
#include "mpi_adi/protocol/receive_common.hpp"

namespace margay::mpi_adi {

namespace {

// Only the header is here: of a rendezvous, or of a message that the room is too small for. What can be pulled is; the
// body of a truncated short or ready message has passed by.
[[gnu::noinline]] void header_came(DeviceParts& parts, ReceiveRequest& request, const portals::Header& header) {
  const Note note = read_note(header.user_data);
  take_envelope(request, header, note);
  if (parts.type_check != nullptr) parts.type_check->came(request, header);
  if (request.answer_bits != 0 && note.protocol != NoteProtocol::short_message) {
    start_pull(parts, request, header);
  } else {
    complete_receive(parts, request, 0);
  }
}

// Any message but a plain short one.
[[gnu::noinline]] void other_came(DeviceParts& parts, ReceiveRequest& request) {
  const portals::IndependentBuffer& row = request.row[0];
  if (request.state == ReceiveState::pulling) return pull_came(parts, request, row.bytes);
  const Note note = read_note(row.header.user_data);
  if (row.bytes != message_bytes(row.header, note)) return header_came(parts, request, portals::Header(row.header));
  take_envelope(request, row.header, note);
  complete_receive(parts, request, row.bytes);
}

}  // namespace

void message_came(DeviceParts& parts, ReceiveRequest& request) {
  const portals::IndependentBuffer& row = request.row[0];
  if (row.state != portals::IndependentBuffer::State::filled) return;
  parts.receive_list.remove(request.entry);
  request.block.release(0);
  const bool whole = row.bytes == row.header.length;
  if (!whole || has_note(row.header.user_data) || request.state != ReceiveState::posted) [[unlikely]]
    return other_came(parts, request);
  take_plain_envelope(request, row.header);
  complete_receive(parts, request, row.bytes);
}

}  // namespace margay::mpi_adi
