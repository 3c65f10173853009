// Carrying on the generalized requests of MPICH's extension (MPIX_Grequest_start): calls that end or look at requests
// call the poll and wait functions of theirs, and of no others.
#pragma once

#include <span>
#include <utility>

#include "mpi/call/call.hpp"

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
// Calls the wait functions of those that are not complete: once for all of a class.
void call_wait_functions(Call& call, Requests requests);

// One round of a wait for them. Such a wait naps and never sleeps: no ring says when a poll function would find more.
class ExtendedRound {
 public:
  explicit ExtendedRound(Call& call)
      : call_(call),
        means_(napping(call.rank().process().wait_means())),
        waiter_(call.rank().process().kernel(), call.rank().process().clock(), means_),
        stall_(call.rank()) {}
  // Polls and makes progress; `all`: all are awaited, and not any of them, so that wait functions may be called.
  void run(Requests requests, bool all);

 private:
  static sim::WaitMeans napping(sim::WaitMeans means) {
    means.may_sleep = false;
    return means;
  }

  Call& call_;
  sim::WaitMeans means_;
  sim::Waiter waiter_;
  StallWatch stall_;
};

// Until `done()` holds or a function failed: then !call.ok().
template <typename Done>
void wait_extended(Call& call, Requests requests, bool all, Done done) {
  ExtendedRound round(call);
  while (call.ok() && !done()) round.run(requests, all);
}

}  // namespace margay::mpi
