#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

namespace {

MpiRank* process_rank = nullptr;

}  // namespace

namespace detail {

constinit thread_local MpiRank* thread_rank = nullptr;

MpiRank* adopt_process_rank() {
  thread_rank = process_rank;
  return thread_rank;
}

}  // namespace detail

void set_current_rank(MpiRank* rank) {
  detail::thread_rank = rank;
  process_rank = rank;
}

}  // namespace margay::mpi_adi
