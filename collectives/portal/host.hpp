// The interface between a collective call and its rank. rank_host implements it for MPI programs, tests for ranks on a
// virtual wire.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi_adi/device/steps.hpp"
#include "mpi_adi/device/task.hpp"
#include "mpi_adi/object/communicator.hpp"
#include "sim/base/peer_table.hpp"

namespace margay::sim {
class Kernel;
class NodeMemory;
}  // namespace margay::sim

namespace margay::mpi_adi {
class Unexpected;
}  // namespace margay::mpi_adi

namespace margay::collectives {

using mpi_adi::Until;

// The interface between collectives and their rank: the kernel, waiting, and the facts by which algorithms are chosen.
// TreePortal owns it. All functions are called under the process lock.
class Host : public mpi_adi::Waits {
 public:
  // The rank's message kernel, which outlives the host.
  [[nodiscard]] virtual sim::Kernel& kernel() = 0;
  // The heaps that the device relieves: one that has held messages back for a while gets a second heap
  // (mpi_adi/device/parts). TreePortal adds and removes its own.
  [[nodiscard]] virtual std::vector<mpi_adi::Unexpected*>& extensible_heaps() = 0;
  // Drops the reference to `communicator` that a complete call held; may free it.
  virtual void release(mpi_adi::Communicator& communicator) = 0;
  // Whether waiting ranks yield at once, because ranks outnumber processors. The same on every rank.
  [[nodiscard]] virtual bool crowded() const = 0;
  // The share of a processor that each rank of the world has when all are busy; 0: unknown. The same on every rank.
  [[nodiscard]] virtual double processors_per_rank() const { return 0; }
  // The rates of this machine's steps as text (select/choose); empty: the usual ones. The same on every rank.
  [[nodiscard]] virtual std::string rates() const { return {}; }
  // The algorithms requested by name (select/choose), as text. The same on every rank.
  [[nodiscard]] virtual std::string requested_algorithms() const { return {}; }
  // The memory that the ranks of this node share beside their rings; null: none. It outlives the host.
  [[nodiscard]] virtual const sim::NodeMemory* node_memory() const { return nullptr; }
  // The node of each rank of the world. Every rank has the same numbers, but for processes of other jobs, whose nodes
  // are node_count() or higher.
  [[nodiscard]] virtual const sim::SharedTable& node_of_rank() const = 0;
  [[nodiscard]] virtual std::uint32_t node_count() const { return ~0U; }
};

}  // namespace margay::collectives
