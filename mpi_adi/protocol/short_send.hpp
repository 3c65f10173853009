// The short protocol (figure 3): header and body go to the receive portal; over "once the kernel finishes delivering
// the message". Short synchronous messages (figure 6) are short messages that ask for an answer; short ready and
// buffered ones differ in a bit, or not at all.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Requires: request.body, peer, protocol and tag are set.
void start_short_send(DeviceParts& parts, SendRequest& request, portals::MatchBits bits);

// The same with what the check of types adds.
void start_watched_short_send(DeviceParts& parts, SendRequest& request, portals::MatchBits bits);

// Without a request: true when the kernel took the message at once. Requires: bytes <= the peer's short limit.
[[nodiscard]] bool try_short_send(DeviceParts& parts, std::uint32_t peer, portals::MatchBits bits,
                                  const portals::Region& body);
// The same with what the check of types adds.
[[nodiscard]] bool try_marked_short_send(DeviceParts& parts, std::uint32_t peer, portals::MatchBits bits,
                                         const portals::Region& body);

}  // namespace margay::mpi_adi
