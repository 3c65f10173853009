// What collective calls need of the rank that they run in. A rank of an MPI program has one (rank_host); tests put
// ranks of a virtual wire here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi_adi/device/steps.hpp"
#include "mpi_adi/device/task.hpp"
#include "mpi_adi/object/communicator.hpp"

namespace margay::sim {
class Kernel;
class NodeMemory;
}  // namespace margay::sim

namespace margay::mpi_adi {
class Unexpected;
}  // namespace margay::mpi_adi

namespace margay::collectives {

using mpi_adi::Until;

// Under the process lock, all of it.
class Host : public mpi_adi::Waits {
 public:
  [[nodiscard]] virtual sim::Kernel& kernel() = 0;
  // Heaps that get a second one when what they hold back has been held for a while (mpi_adi/device/parts).
  [[nodiscard]] virtual std::vector<mpi_adi::Unexpected*>& relieved_heaps() = 0;
  // A call on `communicator` is over; it held a reference.
  virtual void release(mpi_adi::Communicator& communicator) = 0;
  // Whether ranks that wait yield at once, because ranks outnumber processors: the same on every rank.
  [[nodiscard]] virtual bool crowded() const = 0;
  // What of a processor each rank of the world has when all are busy; 0: unknown. What steps take here
  // (select/choose), as text; empty: the usual. The same on every rank, both.
  [[nodiscard]] virtual double processors_each() const { return 0; }
  [[nodiscard]] virtual std::string rates() const { return {}; }
  // Which algorithms were asked for by name (select/choose), as text: the same on every rank.
  [[nodiscard]] virtual std::string asked_algorithms() const { return {}; }
  // What the ranks of this node share beside their channels; nullptr: nothing. It outlives the host.
  [[nodiscard]] virtual const sim::NodeMemory* node_memory() const { return nullptr; }
  // The node of a rank of the world: the same numbers on every rank.
  [[nodiscard]] virtual std::uint32_t node_of(std::uint32_t world_rank) const = 0;
};

}  // namespace margay::collectives
