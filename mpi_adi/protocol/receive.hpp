// A posted receive's descriptor changed: a message is there. "A posted receive needs header information in order to
// distinguish between different protocols and to obtain message tag and source values should these be wildcarded."
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

void message_came(DeviceParts& parts, ReceiveRequest& request);

}  // namespace margay::mpi_adi
