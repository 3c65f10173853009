// A rank with all objects of MPI, alone on a virtual machine of one rank.
#pragma once

#include <doctest/doctest.h>

#include <memory>

#include "mpi_adi/rank/extension.hpp"
#include "mpi_adi/rank/rank.hpp"
#include "sim/machine/process.hpp"
#include "sim/wire/virtual/virtual_wire.hpp"

namespace margay::mpi_adi::test {

struct NoCollectives final : RankExtension {
  [[nodiscard]] const sim::WireCounts& sent() const override { return nothing; }
  [[nodiscard]] const sim::WireCounts& shown() const override { return nothing; }
  void discard_messages(const Communicator& /*communicator*/) override {}
  sim::WireCounts nothing;
};

class NoYield final : public sim::YieldPolicy {
 public:
  void yield(std::uint64_t /*ns*/) override {}
};

struct LoneRank {
  LoneRank() {
    sim::VirtualSettings settings;
    settings.job.size = settings.job.node_count = 1;
    settings.job.node_of_rank = {0};
    settings.attach = [this](sim::TransmissionList& finished) -> sim::Wire& { return network.attach(0, finished); };
    settings.yield_policy = &rest;
    const auto none = [](MpiRank&) -> std::unique_ptr<RankExtension> { return std::make_unique<NoCollectives>(); };
    REQUIRE(MpiRank::start_on(sim::Process::start_virtual(settings), none, rank).ok());
  }
  sim::VirtualNetwork network{1, 1};
  NoYield rest;
  std::unique_ptr<MpiRank> rank;
};

}  // namespace margay::mpi_adi::test
