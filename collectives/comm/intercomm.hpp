// Intercommunicators out of two intracommunicators, and back (MPI 4.0, 7.6).
#pragma once

#include "collectives/comm/construct.hpp"

namespace margay::collectives {

// MPI_Intercomm_create. `peer`, `remote_leader`: at the local leader only. error_class MPI_ERR_COMM: the groups have a
// process in common. Collective over both groups. Requires: `local` is an intracommunicator; checked ranks.
[[nodiscard]] Made join_groups(mpi_adi::MpiRank& rank, mpi_adi::Communicator& local, int local_leader,
                               mpi_adi::Communicator* peer, int remote_leader, int tag);

// MPI_Intercomm_merge: both groups as one, the one that says `high` behind; when both say the same, in an order that
// is the same on all members. Collective over both groups.
[[nodiscard]] Made merge_groups(mpi_adi::MpiRank& rank, mpi_adi::Communicator& inter, bool high);

}  // namespace margay::collectives
