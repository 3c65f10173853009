#include "mpi_adi/protocol/receive_common.hpp"

#include "mpi_adi/device/type_check.hpp"
#include "mpi_adi/protocol/receives.hpp"

namespace margay::mpi_adi {

std::string words_of_truncation(const ReceiveRequest& request) {
  return "the message from rank " + std::to_string(request.source) + " with tag " + std::to_string(request.tag) +
         " has " + std::to_string(request.sent_bytes) + " bytes, and the receive's buffer " +
         std::to_string(request.room().bytes());
}

void tell_receive(DeviceParts& parts, ReceiveRequest& request) {
  if (request.truncated) request.error_class = MPI_ERR_TRUNCATE;
  if (request.in_pieces) request.pieces.clear();
  if (parts.recorder().on()) trace_request(parts, sim::TraceKind::receive_complete, request, request.bytes);
  if (parts.type_check != nullptr) parts.type_check->end_receive(request);
  if (!request.synchronous) return;
  if (parts.recorder().on()) {
    trace_request(parts, sim::TraceKind::synchronous_answer, request, 0, request.answer_bits,
                  parts.kernel.registers().sent(request.peer) + 1);
  }
  answer_synchronous(parts, request.peer, request.answer_bits);
}

}  // namespace margay::mpi_adi
