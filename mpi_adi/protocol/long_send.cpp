// The long protocol (figures 4 and 5): header and body go out together and the sender waits for an acknowledgment.
// Saved whole: over. Only the header saved: the remainder of the body is stopped, and the receiver pulls it from the
// read portal.
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/send_common.hpp"
#include "mpi_adi/protocol/sends.hpp"

namespace margay::mpi_adi {

void start_long_send(DeviceParts& parts, SendRequest& request, portals::Header& header) {
  header.match_bits |= kLongBit;
  header.return_portal = kAcknowledgmentPortal;
  header.return_match_bits = answer_bits_of(request);
  write_note(header.user_data, {NoteProtocol::long_message, request.synchronous, answer_bits_of(request)});
  // Both before the message: the answers may be here before the call that sends it is over.
  listen(parts, request);
  make_readable(parts, request);
  owes(request, kOwedAcknowledgment);
  if (request.synchronous) owes(request, kOwedSynchronous);
  expect_answer(parts, request);
  hand_over(parts, request, header, request.body);
}

void acknowledged(DeviceParts& parts, SendRequest& request, const portals::Header& acknowledgment) {
  settled(request, kOwedAcknowledgment);
  const auto saved = static_cast<portals::Saved>(acknowledgment.user_data[0]);
  const bool whole = saved == portals::Saved::both;
  ProtocolCounts& counts = parts.counts;
  ProtocolCounts::Count& count = request.synchronous
                                     ? (whole ? counts.synchronous_long : counts.synchronous_long_pulled)
                                     : (whole ? counts.long_matched : counts.long_pulled);
  if (!request.buffered) {
    ++count.messages;
    count.bytes += request.body.bytes();
  }
  if (whole) return;
  // A pull that was quicker than its acknowledgment has been noted.
  if (!request.read_done) owes(request, kOwedRead);
  if ((request.owed & kOwedBodyTaken) != 0) parts.kernel.stop(request.transmission);
}

}  // namespace margay::mpi_adi
