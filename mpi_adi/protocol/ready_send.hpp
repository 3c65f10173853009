// Long ready messages. The first type bit keeps them off both catch-alls: "messages with the first message type bit set
// are ready send messages which must have a pre-posted receive ... will simply be discarded if there is no pre-posted
// receive". So the body never has to be pulled, and no acknowledgment is asked for, which a discarded message would
// never get: the send is over when the kernel has taken the body. (Short ready messages take the short protocol with
// that bit.)
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Requires: request.body, peer, protocol and tag are set.
[[gnu::noinline]] void start_long_ready_send(DeviceParts& parts, SendRequest& request, portals::MatchBits bits);

}  // namespace margay::mpi_adi
