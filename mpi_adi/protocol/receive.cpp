#include "mpi_adi/protocol/receive.hpp"

#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/protocol/receive_common.hpp"
#include "mpi_adi/protocol/receives.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

// Any message but a plain short one that fits.
[[gnu::noinline]] void other_came(DeviceParts& parts, ReceiveRequest& request) {
  const portals::IndependentBuffer& row = request.row[0];
  if (request.state == ReceiveState::pulling) return pull_came(parts, request, row.bytes);
  const Note note = read_note(row.header.user_data);
  take_envelope(request, row.header, note);
  // A rendezvous brings the header only. A sender without an answer entry has nothing to pull.
  const bool pull = note.protocol == NoteProtocol::rendezvous && request.answer_bits != 0;
  if (!pull || request.sent_bytes == 0) return complete_receive(parts, request, row.bytes);
  const portals::Header asked = row.header;  // the pull's reply comes to the row
  if (parts.type_check != nullptr) parts.type_check->came(request, asked);
  start_pull(parts, request, asked);
}

}  // namespace

void message_came(DeviceParts& parts, ReceiveRequest& request) {
  const portals::IndependentBuffer& row = request.row[0];
  if (row.state != portals::IndependentBuffer::State::filled) return;
  MARGAY_DEBUG_ASSERT(*parts.posted_receives != 0);
  --*parts.posted_receives;
  parts.receive_list.remove(request.entry);
  // To be filled by a later receive. The row keeps the header and its count until then, and no entry leads to it now.
  request.block.release(0);
  const bool whole = row.bytes == row.header.length;
  if (!whole || has_note(row.header.user_data) || request.state != ReceiveState::posted) [[unlikely]]
    return other_came(parts, request);
  take_plain_envelope(request, row.header);
  complete_receive(parts, request, row.bytes);
}

}  // namespace margay::mpi_adi
