#include "mpi_adi/rank/current.hpp"

#include "sim/shm/published.hpp"

namespace margay::mpi_adi {

namespace {

// Set by the thread that begins or ends MPI, while others make calls that are allowed at any time.
constinit sim::Published<MpiRank*> process_rank;

}  // namespace

namespace detail {

constinit thread_local MpiRank* thread_rank = nullptr;
constinit thread_local bool thread_noted = false;

MpiRank* rank_of_process() {
  return process_rank.get();
}

}  // namespace detail

void set_current_rank(MpiRank* rank) {
  set_thread_rank(rank);
  set_process_rank(rank);
}

void set_thread_rank(MpiRank* rank) {
  detail::thread_rank = rank;
}

void set_process_rank(MpiRank* rank) {
  process_rank.set(rank);
}

}  // namespace margay::mpi_adi
