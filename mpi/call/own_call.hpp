// Giving a request of mpi_adi/request a handle.
#pragma once

#include <memory>

#include "mpi/call/call.hpp"
#include "mpi_adi/request/own_request.hpp"

namespace margay::mpi {

// nullptr, and an error: too many requests are alive.
[[nodiscard]] UserRequest* add_own_request(Call& call, Communicator& communicator);

}  // namespace margay::mpi
