// Every send begins here: the body is described, a protocol chosen, the choice traced and counted.
#pragma once

#include "mpi_adi/device/checked_call.hpp"
#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// See Device. Requires: the destination is a rank.
[[nodiscard]] SendRequest& start_send(DeviceParts& parts, const CheckedSend& send);
[[nodiscard]] bool send_now(DeviceParts& parts, const CheckedSend& send);

}  // namespace margay::mpi_adi
