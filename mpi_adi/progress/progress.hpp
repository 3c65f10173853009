// The device's loop: what the kernel did since the last look becomes completed requests.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// One round. Returns whether anything moved. Under the process lock, by the owner or by the coprocessor.
bool progress(DeviceParts& parts, int messages);

}  // namespace margay::mpi_adi
