// What the options of a run say about the device.
#pragma once

#include "mpi_adi/device/options.hpp"
#include "portals/base/status.hpp"
#include "sim/boot/options.hpp"

namespace margay::mpi_adi {

// Error: a sentence that names the option, its value and what would do.
[[nodiscard]] portals::Status device_options(const sim::Options& options, DeviceOptions& out);

}  // namespace margay::mpi_adi
