// Agreements of all members of a communicator: a pair of contexts that is free on each
// (mpi_adi/object/context_agreement).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "collectives/portal/collective.hpp"
#include "collectives/select/call_task.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/object/context_agreement.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

// Tags of messages in a communicator's collective context that go through the receive portal: agreements, and the edges
// of a distributed graph. Only partitioned operations share it (mpi_adi/request/partitioned.hpp), whose tags begin with
// two ones: so do those of a text, which no program's communicator carries. Collective calls have portals of their own.

enum class Agreement : std::uint8_t {
  create_group = 0,  // the number is the tag that the program gave
  intercomm = 1,     // likewise
  graph_edges = 2,   // how many distributed graphs were made of the communicator before
  text = 3,          // of a text that the program gave; the number's highest bit is 0
};

// 30 bits of `number`. Never MPI_ANY_TAG, which is all ones.
[[nodiscard]] constexpr int internal_tag(Agreement kind, std::uint64_t number) {
  constexpr unsigned kNumberBits = 30;
  static_assert(mpi_adi::kUserTagBits <= kNumberBits);
  const std::uint32_t low = static_cast<std::uint32_t>(number) & ((1U << kNumberBits) - 1);
  return static_cast<int>(static_cast<std::uint32_t>(kind) << kNumberBits | low);
}

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

// The bitwise and of words over all members, along the spanning tree: what agreements are made of. Unlike a reduction
// and a broadcast it tells everybody that somebody is lost. Cost: 2 ceil(log2 p) (α + n β).

// `words`: this member's, then the result, the same on all. `error_class`: MPI_SUCCESS everywhere, or a member is lost
// (MPIX_ERR_PROC_FAILED) or made another call (MPI_ERR_TRUNCATE), wherever that is known; then `words` say nothing. May
// follow another one in the same call, in the same phase.
Steps and_tree(Collective& collective, std::vector<std::uint64_t>& words, int& error_class);

}  // namespace margay::collectives
