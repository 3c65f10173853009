// Whose calls a thread's are: the rank that it belongs to.
#pragma once

namespace margay::mpi_adi {

class MpiRank;

namespace detail {
// The rank of the thread that initialized MPI (initial-exec: one load), and the one that threads without their own
// belong to. They ask for it in each call: what they kept would outlive MPI_Finalize, which another thread calls. With
// init_state.cpp's, info_table.cpp's, the error handlers', the tool interface's and collectives/mpi/machine's, the only
// mutable globals: MPI's C interface has no argument to carry them.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local MpiRank* thread_rank;
[[nodiscard, gnu::noinline]] MpiRank* rank_of_process();
// The calling thread's end will be told to its rank, if that minds.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local bool thread_noted;
}  // namespace detail

// The calling thread's rank; nullptr while neither MPI_Init nor a session holds MPI.
[[nodiscard]] inline MpiRank* current_rank() {
  return detail::thread_rank != nullptr ? detail::thread_rank : detail::rank_of_process();
}
// Whether the calling thread is the one that initialized MPI, and has not finalized it.
[[nodiscard]] inline bool is_rank_thread() {
  return detail::thread_rank != nullptr;
}
// Sets it for the calling thread, and for threads of this process that have none of their own.
void set_current_rank(MpiRank* rank);
// Sets it for one of the two.
void set_thread_rank(MpiRank* rank);
void set_process_rank(MpiRank* rank);

}  // namespace margay::mpi_adi
