// A pair of contexts that is free on every member, taken on this one (mpi_adi/object/context_agreement.hpp).
#pragma once

#include <memory>

#include "collectives/portal/collective.hpp"
#include "collectives/select/call_task.hpp"
#include "mpi_adi/object/context_agreement.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

// Without a context, error_class says why: MPI_ERR_OTHER, all pairs are used up; MPIX_ERR_PROC_FAILED.
struct Agreed : mpi_adi::AgreedContext {
  int error_class = 0;
};

// Among all members of `parent`, of both groups of an intercommunicator. Collective.
[[nodiscard]] Agreed agree_among_all(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent);

// Among some members of `parent`, an intracommunicator: only they call. `tag` tells agreements at once of the same
// members apart; `mark` finds out those that it does not: other marks on other members are an error, MPI_ERR_INTERN.
[[nodiscard]] Agreed agree_among(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent,
                                 const mpi_adi::GroupPtr& members, int tag, std::uint64_t mark = 0);

// Among the members of two groups whose leaders reach each other. Collective over both local communicators.
struct Leaders {
  mpi_adi::Communicator& local;
  int local_leader;
  mpi_adi::Communicator* peer;  // at the leader only
  int remote_leader;            // in `peer`
  int tag;                      // internal
};
[[nodiscard]] Agreed agree_with_leaders(mpi_adi::MpiRank& rank, const Leaders& leaders);

// On channels for persistent calls of `all` that no member's call has (Notices::open). Collective. MPI_SUCCESS, or
// MPIX_ERR_PROC_FAILED, MPI_ERR_TRUNCATE.
[[nodiscard]] int agree_on_channels(mpi_adi::MpiRank& rank, mpi_adi::Communicator& all);

// Sends words to the other leader and receives its words, until both are done; `theirs` gets as many as it sends.
// Leaders only. MPI_SUCCESS; MPIX_ERR_PROC_FAILED; MPI_ERR_TRUNCATE, it sends more than `most`.
[[nodiscard]] int exchange_with_leader(mpi_adi::MpiRank& rank, const Leaders& leaders,
                                       const std::vector<std::uint64_t>& mine, std::vector<std::uint64_t>& theirs,
                                       std::size_t most);

// The same among all members of `parent`, as a call that does not block: `duplicate` gets its contexts. If that fails,
// the call that ends the request frees `duplicate`, and sets *handle to MPI_COMM_NULL.
[[nodiscard]] std::unique_ptr<CallTask> duplication(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent,
                                                    mpi_adi::Communicator& duplicate, MPI_Comm* handle);

// Gives back a context that this rank does not use after all.
inline void return_context(mpi_adi::MpiRank& rank, int context) {
  rank.worlds().contexts().give_back(context / 2);
}

}  // namespace margay::collectives
