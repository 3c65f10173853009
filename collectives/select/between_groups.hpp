// Collectives of an intercommunicator that are more than messages straight from one group to the other
// (MPI 4.0, 6.2.2): one group's data or result goes to the other. They run over both groups as one
// (Communicator::everybody()).
#pragma once

#include "collectives/select/perform.hpp"

namespace margay::collectives {

// Where the two groups are among everybody: each a range of ranks.
struct TwoGroups {
  int mine = 0;  // first rank
  int my_size = 1;
  int theirs = 0;
  int their_size = 1;
  [[nodiscard]] static TwoGroups of(const mpi_adi::Communicator& inter);
};

// `root`: MPI_ROOT, it is this rank; MPI_PROC_NULL, it is another of this group; or its rank in the other group.
struct BcastBetween {
  TwoGroups groups;
  int root = 0;
  portals::Region data = {};
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// `reduction.partial`: the contribution of a rank whose group has not the root; the result at the root.
struct ReduceBetween {
  TwoGroups groups;
  int root = 0;
  Reduction reduction = {};
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// Each group gets what the other one's contributions come to.
struct AllreduceBetween {
  TwoGroups groups;
  Reduction reduction = {};
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

// The same, each rank its block: as ReduceScatterCall.
struct ReduceScatterBetween {
  TwoGroups groups;
  Reduction reduction = {};
  std::span<const std::uint64_t> block_lengths = {};  // of the ranks of this group
  [[nodiscard]] Plan plan(const StandingFacts& standing) const;
  [[nodiscard]] Steps text(Collective& collective, const StandingFacts& standing, Algorithm algorithm) const;
};

}  // namespace margay::collectives
