#include "virtual_machine/world/virtual_rank.hpp"

#include <utility>

#include "mpi/process/machine.hpp"

namespace margay::virtual_machine {

VirtualRank::VirtualRank(RankWorld& world, sim::VirtualNetwork& network, sim::Job job,
                         std::shared_ptr<const sim::Routes::Numbers> routes)
    : world_(world), rank_(job.rank), clock_(world, *this), mpi_process_(*this, clock_), state_(job.rank) {
  sim::VirtualSettings settings;
  settings.attach = [rank = job.rank, &network](sim::TransmissionList& finished) -> sim::Wire& {
    return network.attach(rank, finished);
  };
  settings.job = std::move(job);
  settings.route_pattern = std::move(routes);
  settings.yield_policy = this;
  settings.clock = &clock_;
  settings.calls = this;
  process_ = sim::Process::start_virtual(settings);
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
