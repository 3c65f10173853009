#include "mpi_adi/rank/rank.hpp"

#include <atomic>

namespace margay::mpi_adi {

namespace {

// Relaxed: who uses the rank got it from who set it, through a lock or as its thread's maker.
std::atomic<MpiRank*> process_rank = nullptr;

}  // namespace

namespace detail {

constinit thread_local MpiRank* thread_rank = nullptr;

MpiRank* rank_of_process() {
  return process_rank.load(std::memory_order_relaxed);
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
  process_rank.store(rank, std::memory_order_relaxed);
}

}  // namespace margay::mpi_adi
