// The short protocol (figure 3): header and body go to the receive portal; over "once the kernel finishes delivering
// the message". Short synchronous messages (figure 6) are short messages that ask for an answer; short ready and
// buffered ones differ in a bit, or not at all.
#include "mpi_adi/protocol/observe.hpp"
#include "mpi_adi/protocol/send_common.hpp"
#include "mpi_adi/protocol/sends.hpp"
#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

void start_short_send(DeviceParts& parts, SendRequest& request, portals::Header& header) {
  if (request.synchronous) {
    write_note(header.user_data, {NoteProtocol::short_message, true, answer_bits_of(request)});
    listen(parts, request);
    owes(request, kOwedSynchronous);
    expect_answer(parts, request);
  }
  if (!parts.kernel.try_send(header, request.body)) hand_over(parts, request, header, request.body);
  complete_if_nothing_owed(parts, request);
}

bool try_short_send(DeviceParts& parts, const CheckedSend& send, std::uint32_t peer, portals::MatchBits bits,
                    const portals::Region& body) {
  MARGAY_DEBUG_ASSERT(body.bytes() <= parts.short_limit(peer));
  portals::Header header = put_header(parts, peer, bits, body.bytes());
  if (parts.recorder().watched()) [[unlikely]]
    return observed_try_send(parts, send, header, body);
  return parts.kernel.try_send(header, body);
}

}  // namespace margay::mpi_adi
