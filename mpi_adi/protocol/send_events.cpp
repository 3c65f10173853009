#include "mpi_adi/protocol/send_events.hpp"

#include "mpi_adi/abi/mpi.h"
#include "mpi_adi/protocol/send_common.hpp"
#include "mpi_adi/protocol/sends.hpp"

namespace margay::mpi_adi {

namespace {

// By the receiver's device.
void answered(SendRequest& request, const portals::Header& header) {
  switch (static_cast<Answer>(header.user_data[0])) {
    case Answer::not_returned:
      return settled(request, kOwedCancel);
    case Answer::returned:
      request.cancelled = true;
      return;
    case Answer::synchronous:
    default:
      return settled(request, kOwedSynchronous);
  }
}

}  // namespace

void body_taken(DeviceParts& parts, SendRequest& request) {
  settled(request, kOwedBodyTaken);
  if (request.transmission.state == sim::Transmission::State::failed) {
    request.error_class = MPIX_ERR_PROC_FAILED;
    request.owed = 0;
  }
  complete_if_nothing_owed(parts, request);
}

// The rows are read, not taken to be of this use: a block may come here once more after its send was over.
void answers_came(DeviceParts& parts, SendRequest& request) {
  for (std::size_t row = 0; row < request.answers.size(); ++row) {
    portals::IndependentBuffer& answer = request.answers[row];
    if (answer.state != portals::IndependentBuffer::State::filled) continue;
    const portals::Header header = answer.header;
    request.answer_block.release(row);
    if (!request.listening) continue;
    if (header.kind == portals::Kind::acknowledgment) {
      acknowledged(parts, request, header);
    } else {
      answered(request, header);
    }
  }
  if (!request.listening) return;
  // Given back, nothing will come any more; the kernel may still be letting go of the body. After all rows: the
  // acknowledgment that it overtook in the circle of rows would make the send wait for a reader.
  if (request.cancelled) request.owed &= kOwedBodyTaken;
  complete_if_nothing_owed(parts, request);
}

void body_read(DeviceParts& parts, SendRequest& request) {
  if (!request.readable) return;
  request.read_done = true;
  settled(request, kOwedRead);
  complete_if_nothing_owed(parts, request);
}

}  // namespace margay::mpi_adi
