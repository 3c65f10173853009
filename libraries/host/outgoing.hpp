// The record that a library's message (host::Outgoing) shares with the kernel and the wire. It lies in the message as
// bytes, because public headers do not include the kernel's. Nothing destroys it: it owns no memory.
#pragma once

#include "margay/host.hpp"
#include "sim/wire/transmission.hpp"

namespace margay::libraries {

// The record of a message; made at the first call.
[[nodiscard]] sim::Transmission& record_of(host::Outgoing& message);
// The state of a message. Any thread, while no progress is made.
[[nodiscard]] host::SendState state_of(const host::Outgoing& message);

}  // namespace margay::libraries
