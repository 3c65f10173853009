#include "mpi/external/extended.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "mpi_adi/rank/callback.hpp"
#include "mpi_adi/rank/wait.hpp"
#include "mpi_adi/request/generalized.hpp"

namespace margay::mpi {

namespace {

// The request, if it is an extended one that is not complete.
GeneralizedRequest* incomplete(const UserRequest* request) {
  if (request == nullptr || request->device == nullptr || request->device->complete) return nullptr;
  GeneralizedRequest* const generalized = generalized_of(request->device);
  return generalized != nullptr && generalized->functions().extended() ? generalized : nullptr;
}

// Sets the error that a function of the request returned; the request's communicator handles it.
void set_error(Call& call, const UserRequest& request, const char* function, int code) {
  std::string text;
  const int error_class = GeneralizedRequest::failed(call.rank(), function, code, text);
  if (error_class == MPI_SUCCESS) return;
  call.on(*request.communicator);
  call.set_error_origin(Call::ErrorOrigin::program_class);
  call.error(error_class, std::move(text));
}

// The states of `first` and of later requests of its class, which one wait function takes together.
std::vector<void*> states_from(Requests requests, const GeneralizedRequest& first) {
  std::vector<void*> states{first.extra_state()};
  if (first.group() == 0) return states;
  for (const UserRequest* const request : requests) {
    const GeneralizedRequest* const other = incomplete(request);
    if (other != nullptr && other != &first && other->group() == first.group()) states.push_back(other->extra_state());
  }
  return states;
}

// Calls the wait functions of incomplete requests, once for all of a class.
void call_wait_functions(Call& call, Requests requests) {
  for (const UserRequest* const request : requests) {
    const GeneralizedRequest* const generalized = incomplete(request);
    if (generalized == nullptr || generalized->functions().wait == nullptr) continue;
    // A wait function completes all its requests, so later ones of the class are complete when the loop reaches them.
    std::vector<void*> states = states_from(requests, *generalized);
    MPI_Status status{};
    // No timeout: the function returns when all are complete.
    const int code = call_program(call.rank(), [&] {
      return generalized->functions().wait(static_cast<int>(states.size()), states.data(), 0.0, &status);
    });
    set_error(call, *request, "wait", code);
    if (!call.ok()) return;
  }
}

}  // namespace

bool awaits_extended(Requests requests) {
  return std::ranges::any_of(requests, [](const UserRequest* request) { return incomplete(request) != nullptr; });
}

// Stops at the first error, as the call returns it.
void poll_extended(Call& call, Requests requests) {
  for (const UserRequest* const request : requests) {
    const GeneralizedRequest* const generalized = incomplete(request);
    if (generalized == nullptr || generalized->functions().poll == nullptr) continue;
    MPI_Status status{};  // unused: the program gets the query function's status
    const int code =
        call_program(call.rank(), [&] { return generalized->functions().poll(generalized->extra_state(), &status); });
    set_error(call, *request, "poll", code);
    if (!call.ok()) return;
  }
}

// Never sleeps for an event, because nothing notifies it when a poll function would find more; it naps instead.
void wait_extended(Call& call, Requests requests, bool all, const std::function<bool()>& done) {
  MpiRank& rank = call.rank();
  sim::WaitMeans means = rank.process().wait_means();
  means.may_sleep = false;
  sim::Waiter waiter(rank.process().kernel(), rank.process().clock(), means);
  StallTimer stall(rank);
  while (call.ok() && !done()) {
    if (all) call_wait_functions(call, requests);
    if (!call.ok()) return;
    poll_extended(call, requests);
    if (!call.ok()) return;
    if (call.device().progress()) {
      waiter.restart();
      stall.restart();
      continue;
    }
    waiter.idle();
    stall.idle(waiter.idle_ns());
    // Another thread may complete the requests.
    if (rank.threaded()) rank.let_waiting_threads_in();
  }
}

}  // namespace margay::mpi
