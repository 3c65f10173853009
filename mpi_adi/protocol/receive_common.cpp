#include "mpi_adi/protocol/receive_common.hpp"

#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/protocol/complete.hpp"
#include "mpi_adi/protocol/synchronous.hpp"

namespace margay::mpi_adi {

namespace {

[[gnu::noinline]] void watch_end(DeviceParts& parts, const ReceiveRequest& request) {
  if (parts.recorder().on()) trace_request(parts, sim::TraceKind::receive_complete, request, request.bytes);
  if (parts.type_check != nullptr) parts.type_check->end_receive(request);
}

}  // namespace

void complete_receive(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes) {
  request.state = ReceiveState::complete;
  request.bytes = bytes;
  if (request.truncated) request.error_class = MPI_ERR_TRUNCATE;
  if (request.in_pieces) [[unlikely]]
    request.pieces.clear();
  if (parts.recorder().watched()) [[unlikely]]
    watch_end(parts, request);
  if (request.synchronous) answer_synchronous(parts, request.peer, request.answer_bits);
  complete(parts, request);
}

}  // namespace margay::mpi_adi
