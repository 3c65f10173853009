// Progress of the generalized requests of MPICH's extension (MPIX_Grequest_start): calls that complete or test requests
// call the poll and wait functions of their own requests, and of no others.
#pragma once

#include <functional>
#include <span>

#include "mpi/call/call.hpp"
#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi {

using Requests = std::span<UserRequest* const>;

// Whether there are any such requests; other calls pay one test for them.
[[nodiscard]] inline bool any_extended(Call& call) {
  return call.rank().tables().extended_requests != 0;
}

// Whether one of these requests is an incomplete one of that kind.
[[nodiscard]] bool awaits_extended(Requests requests);
// Calls the poll function of each incomplete one. An error that one returns becomes the call's.
void poll_extended(Call& call, Requests requests);
// Waits until `done()` holds or a function failed (then !call.ok()). It polls and never sleeps for an event, because a
// poll function has no way to wake it. `all`: all requests are awaited, not any of them, so that wait functions may be
// called.
void wait_extended(Call& call, Requests requests, bool all, const std::function<bool()>& done);

}  // namespace margay::mpi
