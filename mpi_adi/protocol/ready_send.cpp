#include "mpi_adi/protocol/ready_send.hpp"

#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/protocol/send_common.hpp"

namespace margay::mpi_adi {

void start_long_ready_send(DeviceParts& parts, SendRequest& request, portals::MatchBits bits) {
  portals::Header header = put_header(parts, request.peer, bits | kLongBit, request.body.bytes());
  write_note(header.user_data, {NoteProtocol::long_message, false, 0});
  mark(parts, header);
  hand_over(parts, request, header, request.body);
}

}  // namespace margay::mpi_adi
