// The device's loop, by the owner or by the coprocessor: what the kernel did since the last round completes requests.
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
