// Ranks as threads (`margay run --threads N`): the threads of one process that are a rank each.
#pragma once

namespace margay::mpi {

// Runs `entry` in each rank of this process. In a process of N ranks it makes N threads; each has MPI for itself: it
// joins the job as one rank, with its own MPI_Init and MPI_Finalize or sessions. `entry` gets a copy of the arguments.
// Returns when all threads have returned: the first status that is not 0, in the order of ranks, else 0. In a process
// of one rank it returns `entry`'s result, and makes no thread.
//
// A rank ends when its thread returns from `entry`, as a process does when it returns from main(). A rank that returns
// while the world model or a session uses MPI ends the process, and with it the other ranks. So does exit() in any
// thread; nothing that the others use is destroyed then. A second call finds that the ranks have left the job.
//
// A thread that the program makes belongs to no rank: its MPI calls fail. Functions and variables of the program are
// shared by the ranks. Requires: `entry` returns in each thread only after all threads that use its rank.
int run_ranks_as_threads(int argc, char** argv, int (*entry)(int, char**));

}  // namespace margay::mpi
