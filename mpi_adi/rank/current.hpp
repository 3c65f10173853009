// Whose calls a thread's are: the process that it belongs to, and that one's rank while MPI runs.
#pragma once

namespace margay::mpi_adi {

class MpiProcess;  // mpi_adi/rank/mpi_process
class MpiRank;

// Of the calling thread (initial-exec: one load each). With the operating system's process, to which thread_process
// leads when nobody set it, the library's only mutable globals.
namespace detail {
// Of the thread that initialized MPI. The others ask their process in each call: what they kept would outlive
// MPI_Finalize, which another thread calls.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local MpiRank* thread_rank;
[[gnu::tls_model("initial-exec")]] extern constinit thread_local MpiProcess* thread_process;  // never nullptr
// Its end will be told to its rank, if that minds.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool thread_noted;
[[nodiscard, gnu::noinline]] MpiRank* rank_of_process();
}  // namespace detail

// The calling thread's rank; nullptr while neither MPI_Init nor a session holds MPI.
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
// The operating system's, whatever the thread.
[[nodiscard]] MpiProcess& system_process();

// The calling thread has begun MPI, or (nullptr) ended it.
void set_thread_rank(MpiRank* rank);
// The calling thread belongs to a virtual machine's process from now on, which outlives its calls. `rank`: it is the
// thread that initialized MPI there.
void set_thread_process(MpiProcess& process, MpiRank* rank = nullptr);

}  // namespace margay::mpi_adi
