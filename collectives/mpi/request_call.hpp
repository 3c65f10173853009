// Giving a collective call that does not block its request.
#pragma once

#include <memory>
#include <utility>

#include "collectives/mpi/arguments.hpp"
#include "collectives/mpi/note_call.hpp"
#include "collectives/select/call_task.hpp"
#include "mpi_adi/mpi/own_call.hpp"

namespace margay::collectives {

// How a call is made: MPI_Ibarrier begins at once, MPI_Barrier_init is begun by MPI_Start.
enum class Form : std::uint8_t { nonblocking, persistent };

// `task` is checked, and begins where its form says so. On return *request names it, and owns it.
int give_request(mpi_adi::Call& call, Form form, std::unique_ptr<CallTask> task, MPI_Request* request);

}  // namespace margay::collectives
