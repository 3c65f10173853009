// The long protocol's variant for experiments: the header alone goes out, with the body's length in its return length,
// and the receiver pulls the body as in figure 5, posted or not. No acknowledgment is needed.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Requires: request.body, peer, protocol and tag are set.
[[gnu::noinline]] void start_rendezvous_send(DeviceParts& parts, SendRequest& request, portals::MatchBits bits);

}  // namespace margay::mpi_adi
