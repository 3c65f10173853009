// The coprocessor's round: the device's progress while the owner computes.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// Takes at most `messages` of each wire. Returns whether anything moved, or the coprocessor has more to do. Under the
// process lock.
bool progress_for_absent_owner(DeviceParts& parts, int messages);

}  // namespace margay::mpi_adi
