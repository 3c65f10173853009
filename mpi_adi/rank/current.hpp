// The calling thread's process, and that process's rank while MPI runs.
#pragma once

namespace margay::mpi_adi {

class MpiProcess;  // mpi_adi/rank/mpi_process
class MpiRank;

// Thread-local pointers (initial-exec: one load each). Apart from the ABI's data symbols, these and the operating
// system's process, to which thread_process points by default, are the only mutable globals of mpi_adi.
namespace detail {
// Set only in the thread that initialized MPI. Other threads ask their process in each call, because MPI_Finalize,
// which another thread calls, could not clear their pointers.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local MpiRank* thread_rank;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local MpiProcess* thread_process;  // never nullptr
// Whether the report of this thread's end is arranged, if the process needs such a report (RankLock::record_thread).
[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool thread_recorded;
// The slow path of current_rank().
[[nodiscard, gnu::noinline]] MpiRank* rank_of_process();
}  // namespace detail

// The calling thread's rank; nullptr while MPI does not run. One load and a test in the thread that initialized MPI.
[[nodiscard]] inline MpiRank* current_rank() {
  return detail::thread_rank != nullptr ? detail::thread_rank : detail::rank_of_process();
}
// Whether the calling thread is the one that initialized MPI, and has not finalized it.
[[nodiscard]] inline bool is_rank_thread() {
  return detail::thread_rank != nullptr;
}
// The calling thread's process.
[[nodiscard]] inline MpiProcess& current_process() {
  return *detail::thread_process;
}
// Whether the ranks of this process are threads (`margay run --threads`), and the calling thread is none of them.
[[nodiscard]] bool is_thread_without_rank();
// The operating system's process, whichever thread calls.
[[nodiscard]] MpiProcess& system_process();

// Sets the rank of the calling thread: called when the thread has begun MPI, and with nullptr when it has ended MPI.
void set_thread_rank(MpiRank* rank);
// Assigns the calling thread to another process than the operating system's, which must outlive the thread's calls.
// `rank`: given when the thread is the one that initialized MPI there.
void set_thread_process(MpiProcess& process, MpiRank* rank = nullptr);

}  // namespace margay::mpi_adi
