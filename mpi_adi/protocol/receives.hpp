// What a receive does with a message that it has found, one body each (take_unexpected.cpp, pull.cpp, synchronous.cpp).
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Requires: the request's entry is in no list; `message` is in the heap, queued or unlinked, claimed by nobody.
[[gnu::noinline]] void take_unexpected(DeviceParts& parts, ReceiveRequest& request, portals::ArrivedMessage& message);
// The heap changed: receives whose message is all there now complete.
[[gnu::noinline]] void heap_changed(DeviceParts& parts);

// Asks the sender of `asked` for as much of its body as the request has room for. Requires: take_envelope() was called,
// the entry is in no list.
[[gnu::noinline]] void start_pull(DeviceParts& parts, ReceiveRequest& request, const portals::Header& asked);
// The reply is in the user's buffer.
[[gnu::noinline]] void pull_came(DeviceParts& parts, ReceiveRequest& request, std::uint64_t bytes);

// Tells `peer` that a receive has taken its message. `answer_bits`: from that message.
[[gnu::noinline]] void answer_synchronous(DeviceParts& parts, std::uint32_t peer, portals::MatchBits answer_bits);

}  // namespace margay::mpi_adi
