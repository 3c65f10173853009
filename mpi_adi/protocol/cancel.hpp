// Taking a posted receive back. What a message has matched, and every send, goes on to its end.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

void cancel(DeviceParts& parts, Request& request);

}  // namespace margay::mpi_adi
