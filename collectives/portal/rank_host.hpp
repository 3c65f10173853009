// The implementation of Host for a rank of an MPI program.
#pragma once

#include "collectives/portal/host.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "sim/machine/process.hpp"

namespace margay::collectives {

// The interface between collective calls and an MPI rank. Forwards each call to the rank, which outlives it.
class RankHost final : public Host {
 public:
  explicit RankHost(mpi_adi::MpiRank& rank) : rank_(rank) {}
  [[nodiscard]] sim::Kernel& kernel() override { return rank_.process().kernel(); }
  [[nodiscard]] std::vector<mpi_adi::Unexpected*>& extensible_heaps() override;
  // Waits as every blocking MPI call does: with progress, yielding and sleeping (mpi_adi/rank/wait).
  void wait(Until done, int messages) override;
  // Frees the communicator if the program has freed its handle and this is the last reference.
  void release(mpi_adi::Communicator& communicator) override { rank_.release(communicator); }
  // A fact of the job (Job::crowded), the same on every rank.
  [[nodiscard]] bool crowded() const override;
  // The job's processors divided by its ranks.
  [[nodiscard]] double processors_per_rank() const override;
  // The text of --collective.
  [[nodiscard]] std::string requested_algorithms() const override;
  // The job's text of rates (Job::rates).
  [[nodiscard]] std::string rates() const override;
  [[nodiscard]] const sim::NodeMemory* node_memory() const override { return rank_.process().node_memory(); }
  // By the job's table of nodes, which every rank has.
  [[nodiscard]] const sim::SharedTable& node_of_rank() const override;
  [[nodiscard]] std::uint32_t node_count() const override;

 private:
  // Outlives the host.
  mpi_adi::MpiRank& rank_;
};

// Gives the check of collective calls (--check-types) time to report, before the error of this process's last call ends
// the job. Waits until the judge has compared that call on all members or found a difference. Waits at most 3 s,
// because some members may never make the call, and no longer once a process is gone. Returns at once if the check is
// disabled.
void await_call_check(mpi_adi::MpiRank& rank);

}  // namespace margay::collectives
