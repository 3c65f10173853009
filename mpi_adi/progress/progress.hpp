// The device's loop: what the kernel did since the last look becomes completed requests.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// One round. Returns whether anything moved. Under the process lock, by the owner or by the coprocessor.
bool progress(DeviceParts& parts, int messages);

// The coprocessor's round: the device's progress while the owner computes.

// Takes at most `messages` of each wire. Returns whether anything moved, or the coprocessor has more to do. Under the
// process lock.
bool progress_for_absent_owner(DeviceParts& parts, int messages);

}  // namespace margay::mpi_adi
