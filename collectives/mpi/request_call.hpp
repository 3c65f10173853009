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

// `task` is checked, and begins where its form says so. *request names it, and owns it; unless an error was noted.
void begin_request(mpi_adi::Call& call, Form form, std::unique_ptr<CallTask> task, MPI_Request* request);
inline int give_request(mpi_adi::Call& call, Form form, std::unique_ptr<CallTask> task, MPI_Request* request) {
  begin_request(call, form, std::move(task), request);
  return call.done();
}

// The whole of a binding whose arguments `What` checks, and of which a `TaskOfWhat` is made.
template <typename What, typename TaskOfWhat, typename Arguments>
int give_request(mpi_adi::Call& call, Form form, const Arguments& arguments, MPI_Request* request) {
  auto checked = std::make_unique<What>(call, arguments);
  call.not_null(request, "request");
  if (!call.ok()) return call.failed();
  return give_request(call, form, std::make_unique<TaskOfWhat>(call.rank(), std::move(checked)), request);
}

}  // namespace margay::collectives
