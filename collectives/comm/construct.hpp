// Making communicators out of one another: contexts that all members agree on, groups.
#pragma once

#include "collectives/portal/collective.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

// A pair of contexts that is free on every member of `parent`, taken on this one. -1: the 4,096 pairs are used up.
// Collective over `parent`.
[[nodiscard]] int agree_on_context(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent);
// Gives back a context that this rank does not use after all.
void return_context(mpi_adi::MpiRank& rank, int context);

// MPI_Comm_dup: the same group, new contexts. nullptr: contexts or handles are used up. Collective.
[[nodiscard]] mpi_adi::Communicator* duplicate(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent);

// MPI_Comm_split: members of one color together, ordered by key, then by rank. `made`: this rank's; nullptr for
// MPI_UNDEFINED. false: contexts or handles are used up. Collective.
[[nodiscard]] bool split(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, int color, int key,
                         mpi_adi::Communicator*& made);

}  // namespace margay::collectives
