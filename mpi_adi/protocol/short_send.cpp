// The short protocol (figure 3): header and body go to the receive portal; over "once the kernel finishes delivering
// the message". Short synchronous messages (figure 6) are short messages that ask for an answer; short ready and
// buffered ones differ in a bit, or not at all.
#include "mpi_adi/protocol/send_common.hpp"
#include "mpi_adi/protocol/sends.hpp"

namespace margay::mpi_adi {

namespace {

inline void start(DeviceParts& parts, SendRequest& request, portals::Header& header) {
  if (request.synchronous) {
    write_note(header.user_data, {NoteProtocol::short_message, true, answer_bits_of(request)});
    listen(parts, request);
    owes(request, kOwedSynchronous);
    expect_answer(parts, request);
  }
  if (!parts.kernel.try_send(header, request.body)) hand_over(parts, request, header, request.body);
  complete_if_nothing_owed(parts, request);
}

}  // namespace

void start_short_send(DeviceParts& parts, SendRequest& request, portals::MatchBits bits) {
  portals::Header header = put_header(parts, request.peer, bits, request.body.bytes());
  start(parts, request, header);
}

void start_watched_short_send(DeviceParts& parts, SendRequest& request, portals::MatchBits bits) {
  portals::Header header = put_header(parts, request.peer, bits, request.body.bytes());
  mark(parts, header);
  start(parts, request, header);
}

bool try_short_send(DeviceParts& parts, std::uint32_t peer, portals::MatchBits bits, const portals::Region& body) {
  return parts.kernel.try_send(put_header(parts, peer, bits, body.bytes()), body);
}

bool try_marked_short_send(DeviceParts& parts, std::uint32_t peer, portals::MatchBits bits,
                           const portals::Region& body) {
  portals::Header header = put_header(parts, peer, bits, body.bytes());
  mark(parts, header);
  return parts.kernel.try_send(header, body);
}

}  // namespace margay::mpi_adi
