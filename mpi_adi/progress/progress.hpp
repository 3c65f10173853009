// The device's progress loop, for the owner and for the coprocessor. It turns the kernel's events since the last round
// into completed requests.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// One round, which takes at most `messages` messages of each wire. Returns whether anything moved. Under the process
// lock.
bool progress(DeviceParts& parts, int messages);

// The coprocessor's round, while the owner computes: the device's progress and the tasks that call no function of the
// program. Takes at most `messages` of each wire. Returns whether anything moved, or the coprocessor has more to do.
// Under the process lock.
bool progress_for_absent_owner(DeviceParts& parts, int messages);

}  // namespace margay::mpi_adi
