#include "collectives/portal/rank_host.hpp"

#include "collectives/portal/call_check.hpp"
#include "collectives/portal/tree_portal.hpp"
#include "mpi_adi/rank/wait.hpp"

namespace margay::collectives {

std::vector<mpi_adi::Unexpected*>& RankHost::extensible_heaps() {
  return rank_.device().extensible_heaps();
}

// Each round of progress takes at most `messages` messages from each wire; then done() is tested.
void RankHost::wait(Until done, int messages) {
  mpi_adi::wait_until(rank_, done, messages);
}

bool RankHost::crowded() const {
  return rank_.process().job().crowded;
}

// Figures of the whole job, so the result is the same on every rank.
double RankHost::processors_per_rank() const {
  const sim::Job& job = rank_.process().job();
  return job.processors / job.initial_ranks();
}

std::string RankHost::requested_algorithms() const {
  return rank_.process().job().options.text("collective");
}

std::string RankHost::rates() const {
  return rank_.process().job().rates;
}

const sim::SharedTable& RankHost::node_of_rank() const {
  return rank_.process().job().node_of_rank;
}

std::uint32_t RankHost::node_count() const {
  return rank_.process().job().node_count;
}

void await_call_check(mpi_adi::MpiRank& rank) {
  CallCheck* const check = static_cast<TreePortal*>(rank.collectives())->check();
  if (check == nullptr) return;
  // Some members may never make the call, so the wait is bounded.
  constexpr std::uint64_t kPatienceNs = 3'000'000'000;
  sim::Process& process = rank.process();
  const std::uint64_t began = process.clock().now_ns();
  check->settle(
      [&] { return process.clock().now_ns() - began >= kPatienceNs || process.kernel().initiator().losses() != 0; });
}

}  // namespace margay::collectives
