// The process's part in its job. MPI_Init and each session refer to it, so sessions can exist before, beside and after
// the world model, and several at once. A process joins a job once: while nothing refers to the part it is dormant,
// without a thread and with empty heaps, and the peers expect that it may exit. Shared memory and sockets, to which
// peers have connected, stay until the process exits.
#pragma once

#include "mpi/call/call.hpp"
#include "mpi/layers.hpp"
#include "mpi_adi/rank/mpi_process.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "portals/base/status.hpp"

namespace margay::mpi {

// Adds a user; the first joins the job. Afterwards current_rank() is set for all threads. Any thread may call this. On
// failure (an invalid option, no memory, a forked process, a process that exits) the number of users is unchanged.
// `threads`: several threads will call at once. The first call opens shared memory and sockets; with several nodes it
// waits for all processes of the job, which exchange addresses.
[[nodiscard]] portals::Status acquire_machine(bool threads);
// Whether the caller is the only user. Another thread may become a user at any moment, so waits ask again in each
// round.
[[nodiscard]] bool is_machine_used_once();
// The users of a process's part in its job.
enum class User { world, session, library };
// Removes a user; the last one drains the wires and reports the accounts to the launcher. Requires: this thread is
// outside the rank, and all communication of the user is complete. In a process that forwards messages of other ranks
// (`--forward node`) the part continues to forward until end_forwarding_of(). After the world model and libraries,
// whose ends are collective, the call waits there until these ranks have ended their communication once; a session
// ends at once, because these ranks may wait for this process's next session.
void release_machine(User user);
// Whether the world model or a session uses the part of `process`.
[[nodiscard]] bool is_machine_held(MpiProcess& process);
// Ends the forwarding for other ranks at the process's exit: waits, without a limit, until they have ended their
// communication. No effect on a process that does not forward, or whose part has users. Precedes end_machine_of().
void end_forwarding_of(MpiProcess& process);
// The end of a process whose program is over, as exit() ends it: reports leaks and open sessions, and ends the streams
// of the sockets, after which MPI cannot begin again. Waits for each lock for a short time only, and does nothing if it
// gets none, at a second call, and in a child of fork().
void end_machine_of(MpiProcess& process);
// The rank that has joined the job in this process, dormant or not; null: none. For owners of a virtual machine, while
// nothing else runs in the process.
[[nodiscard]] MpiRank* joined_rank(MpiProcess& process);

// Ends this process's part in the world's communication, before MPI_Finalize frees anything: waits until all
// communication that can still complete is complete on all processes, and abandons sends and receives that nothing will
// match. While there are sessions, it concerns only the world's communication. Returns false, with the call's error
// set, if a process is lost.
[[nodiscard]] bool end_communication(Call& call);

}  // namespace margay::mpi
