// Every send begins here: the body is described, a protocol chosen, the choice traced and counted.
#pragma once

#include "mpi_adi/device/parts.hpp"

namespace margay::mpi_adi {

// See Device. Requires: destination is a rank of `communicator`.
[[nodiscard]] SendRequest& start_send(DeviceParts& parts, SendMode mode, const void* buffer, std::int64_t count,
                                      const Datatype& type, int destination, int tag, Communicator& communicator,
                                      Context context);
[[nodiscard]] bool send_now(DeviceParts& parts, SendMode mode, const void* buffer, std::int64_t count,
                            const Datatype& type, int destination, int tag, const Communicator& communicator,
                            Context context);

}  // namespace margay::mpi_adi
