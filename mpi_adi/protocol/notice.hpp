// Header-only messages of the device's own: synchronous answers and gets. They outlive the request that caused them.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Sends `header`, without a body, at once or as soon as its wire has room.
void send_notice(DeviceParts& parts, const portals::Header& header);
// Sends it in the place of `transmission`, if nothing of that has left; false: too late. Requires: the same
// destination.
[[nodiscard]] bool send_instead(DeviceParts& parts, sim::Transmission& transmission, const portals::Header& header);
// Its transmission came off the kernel's list.
void notice_finished(DeviceParts& parts, Notice& notice);

}  // namespace margay::mpi_adi
