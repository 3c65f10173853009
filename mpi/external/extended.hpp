// Carrying on the generalized requests of MPICH's extension (MPIX_Grequest_start): calls that end or look at requests
// call the poll and wait functions of theirs, and of no others.
#pragma once

#include <functional>
#include <span>

#include "mpi/call/call.hpp"
#include "mpi_adi/rank/object_tables.hpp"

namespace margay::mpi {

using Requests = std::span<UserRequest* const>;

// Whether there are any, which other calls pay for with one look.
[[nodiscard]] inline bool any_extended(Call& call) {
  return call.rank().tables().extended_requests != 0;
}

// Whether one of these is one that is not complete: other waits need none of this.
[[nodiscard]] bool awaits_extended(Requests requests);
// Calls the poll function of each of them that is not complete. What one returns is the call's error.
void poll_extended(Call& call, Requests requests);
// Until `done()` holds or a function failed: then !call.ok(). `all`: all are awaited, and not any of them, so that wait
// functions may be called.
void wait_extended(Call& call, Requests requests, bool all, const std::function<bool()>& done);

}  // namespace margay::mpi
