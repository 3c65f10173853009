// Header-only messages of the device's own: synchronous answers, gets, questions and answers about cancelled sends.
// They outlive the request that caused them.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Sends `header` without a body, at once or as soon as its wire has room. Requires: its length is 0. A message to a
// lost peer is discarded, and the requests that depend on it are ended by protocol/peer_lost.
void send_header(DeviceParts& parts, const portals::Header& header);
// Replaces `transmission` in its wire's queue by `header`. False if the wire has begun or finished the transmission;
// nothing was sent then. Requires: the same destination.
[[nodiscard]] bool send_instead(DeviceParts& parts, sim::Transmission& transmission, const portals::Header& header);
// Returns the message to its pool when the kernel has finished its transmission.
void header_message_finished(DeviceParts& parts, HeaderMessage& message);

}  // namespace margay::mpi_adi
