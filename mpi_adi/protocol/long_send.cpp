// The long protocol (figures 4 and 5): header and body leave together, and the sender waits for an acknowledgment. If
// the target saved both, the send is complete; a synchronous send waits for its answer, too. If the target saved the
// header only, the sender stops the remainder of the body, and the receiver pulls the body from the read portal.

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/send.hpp"
#include "mpi_adi/protocol/send_common.hpp"

namespace margay::mpi_adi {

void start_long_send(DeviceParts& parts, SendRequest& request, portals::Header& header) {
  header.match_bits |= kLongBit;
  header.return_portal = kAcknowledgmentPortal;
  header.return_match_bits = answer_bits_of(request);
  write_note(header.user_data, {NoteProtocol::long_message, request.synchronous, answer_bits_of(request)});
  // Both entries are listed before the message leaves: an answer may arrive before the call that sends it returns.
  listen(parts, request);
  make_readable(parts, request);
  expect_event(request, kEventAcknowledgment);
  if (request.synchronous) expect_event(request, kEventSynchronous);
  expect_answer(parts, request);
  // Called last, so that an event of the transmission finds all awaited events recorded.
  hand_over(parts, request, header, request.body);
}

void take_acknowledgment(DeviceParts& parts, SendRequest& request, const portals::Header& acknowledgment) {
  finish_event(request, kEventAcknowledgment);
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
  // The pull may overtake the acknowledgment that announces it; read_done is set then.
  if (!request.read_done) expect_event(request, kEventRead);
  // Stopping saves the wire the bytes that the target would discard.
  if ((request.events & kEventBodyTaken) != 0) parts.kernel.stop(request.transmission);
}

// Long ready messages. The first type bit keeps them off both catch-alls: "messages with the first message type bit set
// are ready send messages which must have a pre-posted receive ... will simply be discarded if there is no pre-posted
// receive". The body is therefore never pulled. No acknowledgment is requested, because a discarded message would never
// get one: the send is complete when the kernel has taken the body. (Short ready messages take the short protocol with
// that bit.)

void start_long_ready_send(DeviceParts& parts, SendRequest& request, portals::Header& header) {
  header.match_bits |= kLongBit;
  write_note(header.user_data, {NoteProtocol::long_message, false, 0});
  hand_over(parts, request, header, request.body);
}

// The long protocol's variant for experiments: the header alone leaves, with the body's length as its return length,
// and the receiver pulls the body as in figure 5, whether its receive was posted or not. No acknowledgment is needed,
// because the receiver's pull proves that the header was delivered.

void start_rendezvous_send(DeviceParts& parts, SendRequest& request, portals::Header& header) {
  header.match_bits |= kLongBit;
  header.return_length = header.length;
  header.length = 0;
  write_note(header.user_data, {NoteProtocol::rendezvous, request.synchronous, answer_bits_of(request)});
  make_readable(parts, request);
  expect_event(request, kEventRead);
  if (request.synchronous) {
    listen(parts, request);
    expect_event(request, kEventSynchronous);
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
