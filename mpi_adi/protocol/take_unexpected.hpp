// A receive takes a message out of the heap: "the message is copied out of the heap and the space in the heap is
// freed", or, when only its header was saved, its body is pulled.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Requires: the request's entry is in no list; `message` is in the heap, queued or unlinked, claimed by nobody.
[[gnu::noinline]] void take_unexpected(DeviceParts& parts, ReceiveRequest& request, portals::ArrivedMessage& message);
// The heap changed: receives whose message is all there now complete.
[[gnu::noinline]] void heap_changed(DeviceParts& parts);

}  // namespace margay::mpi_adi
