// The receiver's part of synchronous messages (figures 6 and 7): "the receiver sends back a synchronous acknowledgment
// ... to the same portal as long send acknowledgments". Of a pulled one, "upon arrival of the pulled messages".
#include "mpi_adi/protocol/notice.hpp"
#include "mpi_adi/protocol/receives.hpp"

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
