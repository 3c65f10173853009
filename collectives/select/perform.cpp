#include "collectives/select/perform.hpp"

#include "collectives/algorithm/allreduce_exchange.hpp"
#include "collectives/algorithm/barrier_exchange.hpp"
#include "collectives/algorithm/barrier_tree.hpp"
#include "collectives/algorithm/bcast_nodes.hpp"
#include "collectives/algorithm/bcast_tree.hpp"
#include "collectives/algorithm/reduce_nodes.hpp"
#include "collectives/algorithm/reduce_tree.hpp"
#include "collectives/select/facts.hpp"

namespace margay::collectives {

namespace {

constexpr int kTop = 0;  // the root of operations that have none

Shape shape_of(Operation operation, Algorithm algorithm, int root, std::uint64_t bytes) {
  return {.operation = static_cast<std::uint8_t>(static_cast<unsigned>(operation) + 1),
          .algorithm = static_cast<std::uint8_t>(algorithm),
          .root = static_cast<std::uint16_t>(root),
          .bytes = bytes};
}

// A node's ranks need not be neighbours in the communicator: over several nodes only the tree keeps their order.
Algorithm in_order(Algorithm chosen, const Reducer& combine, const NodeGroups& groups) {
  const bool keeps = chosen != Algorithm::nodes || groups.nodes() == 1;
  return combine.commutative() || keeps ? chosen : Algorithm::tree;
}

void reduce_by(Algorithm algorithm, Collective& collective, const NodeGroups& groups, int root,
               const Reduction& reduction) {
  if (algorithm == Algorithm::nodes) {
    reduce_nodes(collective, groups, root, reduction.partial, reduction.count, reduction.element_bytes,
                 reduction.combine);
  } else {
    reduce_tree(collective, root, reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
  }
}

void bcast_by(Algorithm algorithm, Collective& collective, const NodeGroups& groups, int root,
              const portals::Region& data) {
  if (algorithm == Algorithm::nodes) {
    bcast_nodes(collective, groups, root, data);
  } else {
    bcast_tree(collective, root, data);
  }
}

}  // namespace

int perform_barrier(TreePortal& portal, mpi_adi::Communicator& communicator) {
  int error_class = MPI_SUCCESS;
  const StandingFacts* const standing = facts_of(portal, communicator, error_class);
  if (standing == nullptr) return error_class;
  const Algorithm algorithm = select(Operation::barrier, 0, standing->facts).algorithm;
  Collective collective(portal, communicator, shape_of(Operation::barrier, algorithm, kTop, 0));
  switch (algorithm) {
    case Algorithm::exchange:
      barrier_exchange(collective);
      break;
    case Algorithm::nodes:
      reduce_nodes(collective, standing->groups, kTop, nullptr, 0, 0, nullptr);
      bcast_nodes(collective, standing->groups, kTop, {});
      break;
    case Algorithm::tree:
      barrier_tree(collective);
      break;
  }
  return collective.error_class();
}

int perform_last_barrier(TreePortal& portal, mpi_adi::Communicator& communicator) {
  if (communicator.collective_facts != nullptr) return perform_barrier(portal, communicator);
  Collective collective(portal, communicator, shape_of(Operation::barrier, Algorithm::tree, kTop, 0));
  barrier_tree(collective);
  return collective.error_class();
}

int perform_bcast(TreePortal& portal, mpi_adi::Communicator& communicator, int root, const portals::Region& data) {
  int error_class = MPI_SUCCESS;
  const StandingFacts* const standing = facts_of(portal, communicator, error_class);
  if (standing == nullptr) return error_class;
  const Choice choice = select(Operation::bcast, data.bytes(), standing->facts);
  Collective collective(portal, communicator, shape_of(Operation::bcast, choice.algorithm, root, data.bytes()));
  bcast_by(choice.algorithm, collective, standing->groups, root, data);
  return collective.error_class();
}

int perform_reduce(TreePortal& portal, mpi_adi::Communicator& communicator, int root, const Reduction& reduction) {
  int error_class = MPI_SUCCESS;
  const StandingFacts* const standing = facts_of(portal, communicator, error_class);
  if (standing == nullptr) return error_class;
  const Choice choice = select(Operation::reduce, reduction.bytes(), standing->facts);
  const Algorithm algorithm = in_order(choice.algorithm, reduction.combine, standing->groups);
  Collective collective(portal, communicator, shape_of(Operation::reduce, algorithm, root, reduction.bytes()));
  reduce_by(algorithm, collective, standing->groups, root, reduction);
  return collective.error_class();
}

int perform_allreduce(TreePortal& portal, mpi_adi::Communicator& communicator, const Reduction& reduction) {
  int error_class = MPI_SUCCESS;
  const StandingFacts* const standing = facts_of(portal, communicator, error_class);
  if (standing == nullptr) return error_class;
  const Choice choice = select(Operation::allreduce, reduction.bytes(), standing->facts);
  const Algorithm algorithm = in_order(choice.algorithm, reduction.combine, standing->groups);
  Collective collective(portal, communicator, shape_of(Operation::allreduce, algorithm, kTop, reduction.bytes()));
  if (algorithm == Algorithm::exchange) {
    allreduce_exchange(collective, reduction.partial, reduction.count, reduction.element_bytes, reduction.combine);
  } else {
    // One rank's result goes to all: the same bits everywhere.
    reduce_by(algorithm, collective, standing->groups, kTop, reduction);
    bcast_by(algorithm, collective, standing->groups, kTop, portals::Region(reduction.partial, reduction.bytes()));
  }
  return collective.error_class();
}

}  // namespace margay::collectives
