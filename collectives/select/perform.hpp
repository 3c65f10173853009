// The collective operations: each says how it is done, by what the communicator's members know in common
// (select/facts), and does it. perform() runs one that blocks; select/call_task one that does not.
#pragma once

#include <cstddef>
#include <span>

#include "collectives/algorithm/algorithms.hpp"
#include "collectives/op/reducer.hpp"
#include "collectives/portal/collective.hpp"
#include "collectives/select/facts.hpp"
#include "portals/base/assert.hpp"

namespace margay::collectives {

// How a call is done, and what its members tell each other of it: the same on all but for `own`.
struct Plan {
  Algorithm algorithm = Algorithm::tree;
  Shape shape;
  OwnPart own = {};
};
// Of calls that have no root, who does what one rank does.
inline constexpr int kTop = 0;
[[nodiscard]] inline Shape shape_of(Operation operation, Algorithm algorithm, int root, std::uint64_t bytes) {
  return {.operation = operation_number(operation),
          .algorithm = static_cast<std::uint8_t>(algorithm),
          .root = static_cast<std::uint16_t>(root),
          .bytes = bytes};
}

// Of one that constructs an object, and goes by the tree whatever its length.
[[nodiscard]] inline Shape by_tree(Operation operation, int root, std::uint64_t bytes) {
  return shape_of(operation, Algorithm::tree, root, bytes);
}

struct BarrierCall {
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// As bcast_tree.
struct BcastCall {
  int root = 0;
  portals::Region data = {};
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// `partial`: this rank's contribution, `count` elements of `element_bytes`; becomes the result (reduce: at the root,
// elsewhere it is used up). The order of ranks is kept unless the operation commutes. An element has bytes.
struct Reduction {
  std::byte* partial = nullptr;
  std::size_t count = 0;
  std::size_t element_bytes = 0;
  Reducer combine = nullptr;
  [[nodiscard]] std::uint64_t bytes() const { return count * element_bytes; }
};

struct ReduceCall {
  int root = 0;
  Reduction reduction = {};
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// Every member ends with the same bits.
struct AllreduceCall {
  Reduction reduction = {};
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// As gather_tree.
struct GatherCall {
  int root = 0;
  portals::Region mine = {};
  std::uint64_t block_bytes = 0;
  std::byte* all = nullptr;
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// As scatter_tree.
struct ScatterCall {
  int root = 0;
  portals::Region mine = {};
  std::uint64_t block_bytes = 0;
  portals::Region all = {};
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// As scan_exchange.
struct ScanCall {
  ScanKind kind = ScanKind::inclusive;
  Reduction reduction = {};
  [[nodiscard]] Operation operation() const {
    return kind == ScanKind::inclusive ? Operation::scan : Operation::exscan;
  }
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// The result's blocks are `counts[rank]` elements long, one behind the other; this rank's ends up where it has its
// place in `partial`. The order of ranks is kept unless the operation commutes.
struct ReduceScatterCall {
  Reduction reduction = {};
  std::span<const std::uint64_t> block_lengths = {};  // bytes of each rank's
  [[nodiscard]] std::uint64_t block_bytes(int rank) const { return block_lengths[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// Of a gather, and everybody gets `all`.
struct AllgatherCall {
  portals::Region mine = {};
  std::uint64_t block_bytes = 0;
  std::byte* all = nullptr;
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// Runs a call to its end. Collective over the communicator; under the process lock. MPI_SUCCESS or what
// Collective::error_class() says.
template <typename What>
[[nodiscard]] int perform(TreePortal& portal, mpi_adi::Communicator& communicator, const What& what) {
  const StandingFacts& standing = facts_of(portal.host(), communicator).of_waiting();
  const Plan plan = what.plan(standing);
  int error_class = MPI_SUCCESS;
  std::uint64_t number = 0;
  {
    Collective collective(portal, communicator, plan.shape, plan.own);
    number = communicator.collective_sequence;
    // By memory it cannot go any more.
    if (plan.algorithm == Algorithm::shared && standing.team->has_left_for_a_loss()) [[unlikely]] {
      error_class = MPIX_ERR_PROC_FAILED;
    } else {
      run(what.text(collective, standing, plan.algorithm));
      error_class = collective.error_class();
    }
  }
  if (standing.team != nullptr) {
    standing.team->be_done(number, error_class == MPIX_ERR_PROC_FAILED);
  }
  return error_class;
}

}  // namespace margay::collectives
