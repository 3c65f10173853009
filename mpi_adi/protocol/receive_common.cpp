#include "mpi_adi/protocol/receive_common.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/synchronous.hpp"

namespace margay::mpi_adi {

void take_envelope(ReceiveRequest& request, const portals::Header& header) {
  const Note note = read_note(header.user_data);
  request.source = source_of(header.match_bits);
  request.tag = tag_of(header.match_bits);
  request.peer = header.source.rank;
  request.synchronous = note.synchronous;
  request.answer_bits = note.answer_bits;
  request.truncated = message_bytes(header) > request.room().bytes();
}

void complete_receive(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes) {
  request.state = ReceiveState::complete;
  request.bytes = bytes;
  if (request.truncated) request.error_class = MPI_ERR_TRUNCATE;
  request.pieces.clear();
  if (parts.recorder().on()) trace_request(parts, sim::TraceKind::receive_complete, request, bytes);
  if (request.synchronous) answer_synchronous(parts, request.peer, request.answer_bits);
  complete(parts, request);
}

}  // namespace margay::mpi_adi
