// Waits that serve Nexus and MPI: Nexus's polls execute margay's progress rounds, which MPI shares.
#pragma once

#include "mpi_adi/abi/mpi.h"

#include <functional>

#include "libraries/nexus_mpi/layer.hpp"

namespace margay::nexus_mpi {

// Serves until a message completes the condition. A wait that no message can end is a deadlock, which margay proves.
void serve_until(const std::function<bool()>& done);
// Serves once: runs the handlers of arrived messages, and sends answers.
void serve();
// Serves until `poll()`, which may call MPI, returns true. Polls, because Nexus cannot test MPI requests in its wait,
// so margay cannot prove a deadlock here.
void poll_until(const std::function<bool()>& poll);

// Runs a blocking collective function as its nonblocking form, and serves until it is complete. The two forms match, if
// all ranks use the same: with the layer, all do.
int serve_collective(const std::function<int(MPI_Request*)>& begin);

// Reports a failure by the communicator's error handler. Returns the error's code.
int fail_on(MPI_Comm communicator, const char* call, const char* text);

// The code of a completed request's error, whose text names the call, as that of margay's MPI. A truncated receive's
// code keeps its text until 64 later ones are truncated.
[[nodiscard]] int error_code(const Request& request, const char* call);

// Runs a function of MPI, whose errors of Nexus become errors of MPI on this communicator.
template <typename Function>
int guarded(MPI_Comm communicator, const char* call, Function function) {
  try {
    return function();
  } catch (const nexus::error& caught) {
    return fail_on(communicator, call, caught.what());
  }
}

}  // namespace margay::nexus_mpi
