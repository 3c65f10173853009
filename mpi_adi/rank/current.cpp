#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

namespace {

MpiRank* process_rank = nullptr;

}  // namespace

namespace detail {

constinit thread_local MpiRank* thread_rank = nullptr;

MpiRank* rank_of_process() {
  return process_rank;
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
  process_rank = rank;
}

}  // namespace margay::mpi_adi
