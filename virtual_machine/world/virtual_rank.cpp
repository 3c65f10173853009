#include "virtual_machine/world/virtual_rank.hpp"

#include <utility>

#include "mpi/process/machine.hpp"

namespace margay::virtual_machine {

VirtualRank::VirtualRank(RankWorld& world, WayNetworks& networks, sim::Job job,
                         std::shared_ptr<const sim::Routes::Numbers> routes)
    : world_(world),
      rank_(job.rank),
      clock_(world, *this),
      process_(start_process(networks, std::move(job), std::move(routes))),
      kernel_(process_->kernel()),
      mpi_process_(*this, clock_),
      state_(rank_),
      arrivals_ns_(networks.size()) {}

std::unique_ptr<sim::Process> VirtualRank::start_process(WayNetworks& networks, sim::Job job,
                                                         std::shared_ptr<const sim::Routes::Numbers> routes) {
  sim::VirtualSettings settings;
  networks.attach(job.rank, settings);
  settings.job = std::move(job);
  settings.route_pattern = std::move(routes);
  // Waits, times and calls of this process go to the world, through the rank.
  settings.yield_policy = this;
  settings.clock = &clock_;
  settings.calls = this;
  return sim::Process::start_virtual(settings);
}

portals::Status VirtualRank::start(std::unique_ptr<sim::Process>& out) {
  if (portals::Status status = process_->open_trace(); !status.ok()) return status;
  out = std::move(process_);
  return {};
}

mpi_adi::MpiRank* VirtualRank::joined() {
  return mpi::joined_rank(mpi_process_);
}

}  // namespace margay::virtual_machine
