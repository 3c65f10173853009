// Collectives of an intercommunicator in which one group's data or result goes to the other (MPI 4.0, 6.2.2).
// Operations that consist of direct messages alone are not here. All run over the communicator of both groups
// (Communicator::all_members()).
#pragma once

#include "collectives/select/perform.hpp"

namespace margay::collectives {

// The two groups' ranges of ranks in the communicator of both.
struct TwoGroups {
  // The first rank of this rank's group, and the group's size.
  int mine = 0;
  int my_size = 1;
  // The same of the other group.
  int theirs = 0;
  int their_size = 1;
  // The ranges from this rank's side of `inter`. All ranks agree on which group comes first in the communicator of
  // both.
  [[nodiscard]] static TwoGroups of(const mpi_adi::Communicator& inter);
};

// A broadcast from one rank to the other group. `root` is MPI_ROOT on the root, MPI_PROC_NULL on the other ranks of its
// group, and in the receiving group the root's rank in the other group.
struct BcastBetween {
  TwoGroups groups;
  int root = 0;
  // Sent at the root, filled in the other group, empty elsewhere.
  portals::Region data = {};
  // plan(): the algorithm and the shape, equal on all members. routine(): this rank's part as a routine. The structs
  // below have the same two functions (select/perform).
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// A reduction of one group's data to a rank of the other. `root`: as BcastBetween's. `reduction.partial` is the
// contribution of each rank of the sending group, and the place of the result at the root.
struct ReduceBetween {
  TwoGroups groups;
  int root = 0;
  Reduction reduction = {};
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// An allreduce in which each group gets the combination of the other one's data. Each group reduces to its first rank;
// the two first ranks exchange the results and broadcast them in their groups.
struct AllreduceBetween {
  TwoGroups groups;
  // This rank's contribution, whose row gets the result.
  Reduction reduction = {};
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// A reduce-scatter in which each rank gets its block of the other group's combination; see ReduceScatterCall. The first
// ranks of both groups exchange the results, and each scatters the blocks in its group.
struct ReduceScatterBetween {
  TwoGroups groups;
  // This rank's contribution, whose row gets this rank's block of the result, at its place.
  Reduction reduction = {};
  // Bytes of the blocks of this group's ranks, in their order.
  std::span<const std::uint64_t> block_lengths = {};
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps routine(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

}  // namespace margay::collectives
