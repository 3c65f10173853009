#include "mpi_adi/protocol/receive_common.hpp"

#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/synchronous.hpp"

namespace margay::mpi_adi {

void complete_receive(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes) {
  request.state = ReceiveState::complete;
  request.bytes = bytes;
  if (request.truncated) request.error_class = MPI_ERR_TRUNCATE;
  if (request.in_pieces) [[unlikely]]
    request.pieces.clear();
  if (parts.recorder().on()) trace_request(parts, sim::TraceKind::receive_complete, request, bytes);
  if (request.synchronous) answer_synchronous(parts, request.peer, request.answer_bits);
  complete(parts, request);
}

}  // namespace margay::mpi_adi
