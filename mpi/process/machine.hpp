// The part of the calling thread's process in its job. MPI_Init and each session hold it, so that sessions live before,
// beside and after the world model, and several at once. A process joins a job once: between its users the part is
// dormant, without a thread and with empty heaps, and the peers know that it may leave; what they have connected to
// (shared memory, sockets) stays until the process is gone.
#pragma once

#include "mpi/call/call.hpp"
#include "mpi/layers.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "portals/base/status.hpp"

namespace margay::mpi {

// One user more; the first joins the job. current_rank() is there afterwards, for all threads. Any thread. Error: a
// sentence; there is one user less again.
// `threads`: several threads will call at once.
[[nodiscard]] portals::Status hold_machine(bool threads);
// Whether there is nobody but the caller, who holds it. Another thread may hold it too
// the next moment.
[[nodiscard]] bool hold_machine_alone();
// One user less; the last one drains the wires and gives accounts to the launcher. Requires: outside the rank; what
// the user sent is complete.
void let_go_machine();
// What has joined the job in this process, dormant or not; nullptr: nothing has. For who looks after a virtual machine:
// nothing else runs in the process meanwhile.
[[nodiscard]] MpiRank* joined_rank(MpiProcess& process);

// Ends a process's part in the communication of the world, before MPI_Finalize gives anything back.
// Waits until everything that can still move has moved, at all processes; what nothing will ever match is given up.
// Beside sessions, only what is the world's is looked at. False: an error (a process is lost), which `call` has.
[[nodiscard]] bool end_communication(Call& call);

}  // namespace margay::mpi
