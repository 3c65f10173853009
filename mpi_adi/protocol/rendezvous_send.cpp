// The long protocol's variant for experiments: the header alone goes out, with the body's length in its return length,
// and the receiver pulls the body as in figure 5, posted or not. No acknowledgment is needed.
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/send_common.hpp"
#include "mpi_adi/protocol/sends.hpp"

namespace margay::mpi_adi {

void start_rendezvous_send(DeviceParts& parts, SendRequest& request, portals::Header& header) {
  header.match_bits |= kLongBit;
  header.return_length = header.length;
  header.length = 0;
  write_note(header.user_data, {NoteProtocol::rendezvous, request.synchronous, answer_bits_of(request)});
  make_readable(parts, request);
  owes(request, kOwedRead);
  if (request.synchronous) {
    listen(parts, request);
    owes(request, kOwedSynchronous);
  }
  if (!request.buffered) {
    ProtocolCounts::Count& count =
        request.synchronous ? parts.counts.synchronous_long_pulled : parts.counts.long_pulled;
    ++count.messages;
    count.bytes += request.body.bytes();
  }
  expect_answer(parts, request);
  if (!parts.kernel.try_send(header, {})) hand_over(parts, request, header, {});
}

}  // namespace margay::mpi_adi
