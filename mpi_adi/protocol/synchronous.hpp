// The receiver's part of synchronous messages (figures 6 and 7): "the receiver sends back a synchronous acknowledgment
// ... to the same portal as long send acknowledgments". Of a pulled one, "upon arrival of the pulled messages".
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Tells `peer` that a receive has taken its message. `answer_bits`: from that message.
[[gnu::noinline]] void answer_synchronous(DeviceParts& parts, std::uint32_t peer, portals::MatchBits answer_bits);

}  // namespace margay::mpi_adi
