// The device's options, read from the options of a run.
#pragma once

#include "mpi_adi/device/options.hpp"
#include "portals/base/status.hpp"
#include "sim/boot/options.hpp"

namespace margay::mpi_adi {

// Reads and checks them. Fails with a message that names the option, its value and the valid values.
[[nodiscard]] portals::Status device_options(const sim::Options& options, DeviceOptions& out);

}  // namespace margay::mpi_adi
