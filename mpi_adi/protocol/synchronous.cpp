#include "mpi_adi/protocol/synchronous.hpp"

#include "mpi_adi/protocol/notice.hpp"

namespace margay::mpi_adi {

void answer_synchronous(DeviceParts& parts, std::uint32_t peer, portals::MatchBits answer_bits) {
  portals::Header header;
  header.kind = portals::Kind::put;
  header.portal = kAcknowledgmentPortal;
  header.destination = {parts.kernel.me().group, peer};
  header.match_bits = answer_bits;
  send_notice(parts, header);
}

}  // namespace margay::mpi_adi
