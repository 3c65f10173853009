// The long protocol (figures 4 and 5): header and body go out together and the sender waits for an acknowledgment.
// Saved whole: over. Only the header saved: the remainder of the body is stopped, and the receiver pulls it from the
// read portal.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Requires: request.body, peer, protocol and tag are set.
[[gnu::noinline]] void start_long_send(DeviceParts& parts, SendRequest& request, portals::MatchBits bits);

// The target's kernel says what it saved of the message.
void acknowledged(DeviceParts& parts, SendRequest& request, const portals::Header& acknowledgment);

}  // namespace margay::mpi_adi
