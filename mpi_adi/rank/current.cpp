#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

namespace {

// The rank of the running thread (initial-exec: one load), and the one that threads without their own belong to. With
// init_state.cpp's, the only mutable globals: MPI's C interface has no argument to carry them.
[[gnu::tls_model("initial-exec")]] thread_local MpiRank* thread_rank = nullptr;
MpiRank* process_rank = nullptr;

}  // namespace

MpiRank* current_rank() {
  if (thread_rank == nullptr) [[unlikely]]
    thread_rank = process_rank;
  return thread_rank;
}

void set_current_rank(MpiRank* rank) {
  thread_rank = rank;
  process_rank = rank;
}

}  // namespace margay::mpi_adi
