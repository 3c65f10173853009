// The device's options, read from the options of a run.
#pragma once

#include "mpi_adi/device/options.hpp"
#include "portals/base/status.hpp"
#include "sim/boot/options.hpp"

namespace margay::mpi_adi {

// Reads the options and checks them. Fails with a message that names the option, its value and the valid values; `out`
// is then incomplete. Called before the rank exists (MpiRank::start_on), and by `margay info`.
[[nodiscard]] portals::Status device_options(const sim::Options& options, DeviceOptions& out);

}  // namespace margay::mpi_adi
