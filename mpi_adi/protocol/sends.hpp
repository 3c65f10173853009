// The send protocols, one body each (short_send.cpp and so on, which say how each works): start_send chooses among
// them, send_events goes on with them. Of each start: request.body, peer, protocol and tag are set, `header` is
// put_header()'s, marked by the check of types.
#pragma once

#include "mpi_adi/device/checked_call.hpp"
#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Short messages, figure 3; synchronous ones, figure 6; ready and buffered ones that are short.
void start_short_send(DeviceParts& parts, SendRequest& request, portals::Header& header);

// Without a request: true when the kernel took the message at once. Requires: bytes <= the peer's short limit.
[[nodiscard]] bool try_short_send(DeviceParts& parts, const CheckedSend& send, std::uint32_t peer,
                                  portals::MatchBits bits, const portals::Region& body);

// Long messages, figures 4 and 5.
[[gnu::noinline]] void start_long_send(DeviceParts& parts, SendRequest& request, portals::Header& header);

// The target's kernel says what it saved of the message.
void acknowledged(DeviceParts& parts, SendRequest& request, const portals::Header& acknowledgment);

// Their variant by rendezvous (an option); long ready messages.
[[gnu::noinline]] void start_rendezvous_send(DeviceParts& parts, SendRequest& request, portals::Header& header);
[[gnu::noinline]] void start_long_ready_send(DeviceParts& parts, SendRequest& request, portals::Header& header);

}  // namespace margay::mpi_adi
