#include "mpi_adi/protocol/header_message.hpp"

#include "portals/base/assert.hpp"

namespace margay::mpi_adi {

namespace {

HeaderMessage& new_header_message(DeviceParts& parts, const portals::Header& header) {
  // The message has no body, so no memory of the sender must stay valid until it has left.
  HeaderMessage& message = parts.header_messages.take();
  MARGAY_ASSERT(header.length == 0);
  message.transmission = {};
  message.transmission.header = header;
  message.transmission.owner = &message;
  message.transmission.owner_tag_kind = kOwnerHeaderMessage;
  return message;
}

}  // namespace

void send_header(DeviceParts& parts, const portals::Header& header) {
  // Nearly always the wire has room, and no object is taken from the pool.
  if (!parts.kernel.try_send(header, {})) parts.kernel.send(new_header_message(parts, header).transmission);
}

bool send_instead(DeviceParts& parts, sim::Transmission& transmission, const portals::Header& header) {
  MARGAY_ASSERT(header.destination == transmission.header.destination);
  HeaderMessage& message = new_header_message(parts, header);
  if (parts.kernel.replace(transmission, message.transmission)) return true;
  parts.header_messages.give_back(message);
  return false;
}

// A failed message means a lost peer. kLookAgain makes the next round end the requests that waited for an answer to the
// message.
void header_message_finished(DeviceParts& parts, HeaderMessage& message) {
  if (message.transmission.state == sim::Transmission::State::failed) parts.losses_ended = kLookAgain;
  parts.header_messages.give_back(message);
}

}  // namespace margay::mpi_adi
