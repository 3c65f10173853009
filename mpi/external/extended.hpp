// Progress of the generalized requests of MPICH's extension (MPIX_Grequest_start): calls that complete or test requests
// call the poll and wait functions of their own requests, and of no others.
#pragma once

#include <functional>
#include <span>

#include "mpi/call/call.hpp"
#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi {

using Requests = std::span<UserRequest* const>;

// Whether the rank has such requests. Without them, a call pays this test only.
[[nodiscard]] inline bool any_extended(Call& call) {
  return call.rank().tables().extended_requests != 0;
}

// Whether one of these requests is an extended request that is not complete.
[[nodiscard]] bool awaits_extended(Requests requests);
// Calls the poll function of each incomplete extended request. An error of such a function becomes the call's, and no
// further function is called.
void poll_extended(Call& call, Requests requests);
// Waits until `done()` holds or a function failed (then !call.ok()). It polls and never sleeps for an event, because a
// poll function has no way to wake it. `all`: all requests are awaited, not any of them, so that wait functions may be
// called.
void wait_extended(Call& call, Requests requests, bool all, const std::function<bool()>& done);

}  // namespace margay::mpi
