// Long ready messages. The first type bit keeps them off both catch-alls: "messages with the first message type bit set
// are ready send messages which must have a pre-posted receive ... will simply be discarded if there is no pre-posted
// receive". So the body never has to be pulled, and no acknowledgment is asked for, which a discarded message would
// never get: the send is over when the kernel has taken the body. (Short ready messages take the short protocol with
// that bit.)
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/send_common.hpp"
#include "mpi_adi/protocol/sends.hpp"

namespace margay::mpi_adi {

void start_long_ready_send(DeviceParts& parts, SendRequest& request, portals::Header& header) {
  header.match_bits |= kLongBit;
  write_note(header.user_data, {NoteProtocol::long_message, false, 0});
  hand_over(parts, request, header, request.body);
}

}  // namespace margay::mpi_adi
