// This process's part in the job. MPI_Init and each session hold it, so that sessions live before, beside and after
// the world model, and several at once. A process joins a job once. One that never had a session gives everything back
// with MPI_Finalize. One that had may have another: between its users the part rests, without a thread and with empty
// heaps; what peers have connected to (shared memory, sockets) stays until exit().
#pragma once

#include <cstdint>

#include "mpi_adi/rank/rank.hpp"
#include "portals/base/status.hpp"

namespace margay::collectives {

enum class Holder : std::uint8_t { world, session };

// One user more; the first joins the job. current_rank() is there afterwards, for all threads. Any thread. Error: a
// sentence; there is one user less again.
// `threads`: several threads will call at once.
[[nodiscard]] portals::Status hold_machine(Holder holder, bool threads);
// Whether the caller, who holds it, is the only one.
[[nodiscard]] bool hold_machine_alone();
// One user less; the last one drains the wires and gives accounts to the launcher. Requires: outside the rank; what
// the user sent is complete.
void let_go_machine();

}  // namespace margay::collectives
