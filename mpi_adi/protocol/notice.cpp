#include "mpi_adi/protocol/notice.hpp"

#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

Notice& new_notice(DeviceParts& parts, const portals::Header& header) {
  // A notice has no body, so no memory of the sender must stay valid until it has left.
  Notice& notice = parts.notices.take();
  MARGAY_ASSERT(header.length == 0);
  notice.transmission = {};
  notice.transmission.header = header;
  notice.transmission.owner = &notice;
  notice.transmission.owner_tag_kind = kOwnerNotice;
  return notice;
}

}  // namespace

void send_notice(DeviceParts& parts, const portals::Header& header) {
  // Nearly always the wire has room, and no notice is taken from the pool.
  if (!parts.kernel.try_send(header, {})) parts.kernel.send(new_notice(parts, header).transmission);
}

bool send_instead(DeviceParts& parts, sim::Transmission& transmission, const portals::Header& header) {
  MARGAY_ASSERT(header.destination == transmission.header.destination);
  Notice& notice = new_notice(parts, header);
  if (parts.kernel.replace(transmission, notice.transmission)) return true;
  parts.notices.give_back(notice);
  return false;
}

// A failed notice means a lost peer. kLookAgain makes the next round end the requests that waited for an answer to the
// notice.
void notice_finished(DeviceParts& parts, Notice& notice) {
  if (notice.transmission.state == sim::Transmission::State::failed) parts.losses_ended = kLookAgain;
  parts.notices.give_back(notice);
}

}  // namespace margay::mpi_adi
