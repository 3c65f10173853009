// Pulling a body that the kernel did not save (figure 5): "the match bits are changed to accept a pulled message, and a
// message is sent to the sender to pull the data across." Figure 7: the extra answer of synchronous ones comes after
// it.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Asks the sender of `asked` for as much of its body as the request has room for. Requires: take_envelope() was called,
// the entry is in no list.
[[gnu::noinline]] void start_pull(DeviceParts& parts, ReceiveRequest& request, const portals::Header& asked);
// The reply is in the user's buffer.
[[gnu::noinline]] void pull_came(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes);

}  // namespace margay::mpi_adi
