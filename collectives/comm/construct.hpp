// Making communicators out of one another.
#pragma once

#include <memory>

#include "collectives/portal/collective.hpp"
#include "collectives/select/call_task.hpp"
#include "mpi_adi/object/context_agreement.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

// `communicator` is null when this process is in none (MPI_COMM_NULL), or when it failed. error_class then:
// MPI_ERR_OTHER, contexts or handles are used up; MPIX_ERR_PROC_FAILED.
struct Made {
  mpi_adi::Communicator* communicator = nullptr;
  int error_class = 0;
};

// A communicator of these groups in a context that was agreed on, with its parent's error handler.
[[nodiscard]] Made make_communicator(mpi_adi::MpiRank& rank, mpi_adi::GroupPtr group, mpi_adi::GroupPtr remote,
                                     const mpi_adi::AgreedContext& agreed, const mpi_adi::Communicator& parent);

// MPI_Comm_dup: the same groups and topology, new contexts. Collective.
[[nodiscard]] Made duplicate(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent);
// MPI_Comm_idup: the same, by a call that does not block. The communicator is there at once, its contexts when `task`
// is over; *handle is the program's variable, set to MPI_COMM_NULL if that fails. `communicator` null: handles are used
// up.
struct Begun {
  mpi_adi::Communicator* communicator = nullptr;
  std::unique_ptr<CallTask> task;
};
[[nodiscard]] Begun begin_duplicate(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, MPI_Comm* handle);

// MPI_Comm_split: members of one color together, ordered by key, then by rank. An intercommunicator's: of both groups.
// Collective.
[[nodiscard]] Made split(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, int color, int key);

// MPI_Comm_create: disjoint groups of members become communicators. Each member gives a group; of members of an
// intercommunicator's group all give the same. Collective. Requires: members of `group` are of the parent's.
[[nodiscard]] Made create(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, const mpi_adi::GroupPtr& group);
// MPI_Comm_create_group: only members of `group`, which this process is in, call. Requires: an intracommunicator.
[[nodiscard]] Made create_group(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, const mpi_adi::GroupPtr& group,
                                int tag);

}  // namespace margay::collectives
