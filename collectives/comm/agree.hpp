// Agreements among members of communicators: above all on a pair of contexts that is free on each of them
// (mpi_adi/object/context_agreement). All functions are collective over the members, and run under the process lock.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collectives/portal/collective.hpp"
#include "collectives/select/call_task.hpp"
#include "mpi_adi/device/match_bits.hpp"
#include "mpi_adi/object/context_agreement.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

// Tags of agreements, and of messages with edges of a distributed graph. The tags of the kinds intercomm and
// graph_edges belong to messages through the receive portal, in a communicator's collective context. Only partitioned
// operations also use that context at that portal; their tags begin with the bits 11 (mpi_adi/request/partitioned.hpp).
// The tags of the kinds create_group and text are numbers of calls on the tree portal (agree_among()). A tag of the
// kind text begins with the bits 11, like the number of a persistent call (CallNumber); but this kind occurs only on
// the library's own world, which has no persistent calls.

// The kinds of agreements; two bits of a tag.
enum class Agreement : std::uint8_t {
  create_group = 0,  // number: the program's tag
  intercomm = 1,     // number: the program's tag
  graph_edges = 2,   // number: distributed graphs of this communicator before this one
  text = 3,          // number: a hash of the program's text; its highest bit is 0
};

// The tag of an agreement, with the lowest 30 bits of `number`. Never MPI_ANY_TAG, which is all ones, because the
// highest bit of the number of Agreement::text is 0.
[[nodiscard]] constexpr int internal_tag(Agreement kind, std::uint64_t number) {
  constexpr unsigned kNumberBits = 30;
  static_assert(mpi_adi::kUserTagBits <= kNumberBits);
  const std::uint32_t low = static_cast<std::uint32_t>(number) & ((1U << kNumberBits) - 1);
  return static_cast<int>(static_cast<std::uint32_t>(kind) << kNumberBits | low);
}

// The contexts that were agreed on. context < 0: there are none, and error_class is MPI_ERR_OTHER (all pairs are in
// use), MPI_ERR_INTERN (marks differ), MPI_ERR_TRUNCATE (a member made another call) or MPIX_ERR_PROC_FAILED.
struct Agreed : mpi_adi::AgreedContext {
  int error_class = 0;
};

// Agrees among all members of `parent`, of both groups of an intercommunicator.
[[nodiscard]] Agreed agree_among_all(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent);

// Agrees among some members of `parent`, an intracommunicator. Only these members call. `tag` distinguishes
// simultaneous agreements of the same members. `mark` detects two agreements that have one tag by chance: if marks
// differ, both fail with MPI_ERR_INTERN.
[[nodiscard]] Agreed agree_among(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent,
                                 const mpi_adi::GroupPtr& members, int tag, std::uint64_t mark = 0);

// Two groups whose leaders can exchange messages.
struct Leaders {
  mpi_adi::Communicator& local;
  int local_leader;
  mpi_adi::Communicator* peer;  // at the leader only
  int remote_leader;            // in `peer`
  int tag;                      // an internal_tag()
};
// The bitwise and of words over the members of both groups; `words` gets the result on all of them. Collective over
// both local communicators. Returns MPI_SUCCESS; MPIX_ERR_PROC_FAILED; MPI_ERR_TRUNCATE, a member made another call.
[[nodiscard]] int and_with_leaders(mpi_adi::MpiRank& rank, const Leaders& leaders, std::span<std::uint64_t> words);
// Agrees among the members of both groups. Collective over both local communicators.
[[nodiscard]] Agreed agree_with_leaders(mpi_adi::MpiRank& rank, const Leaders& leaders);

// Agrees on the free channels of `all`, a communicator of all members: the channels that no member's persistent call
// has (Notices::open()). Returns MPI_SUCCESS, MPIX_ERR_PROC_FAILED or MPI_ERR_TRUNCATE.
[[nodiscard]] int agree_on_channels(mpi_adi::MpiRank& rank, mpi_adi::Communicator& all);

// Sends `mine` to the other leader and receives its words into `theirs`, which is resized to their number. Returns when
// both messages are complete. Leaders only. Returns MPI_SUCCESS; MPIX_ERR_PROC_FAILED; MPI_ERR_TRUNCATE, the other
// leader sends more than `most` words.
[[nodiscard]] int exchange_with_leader(mpi_adi::MpiRank& rank, const Leaders& leaders,
                                       const std::vector<std::uint64_t>& mine, std::vector<std::uint64_t>& theirs,
                                       std::size_t most);

// Agrees among all members of `parent` in a nonblocking call: `duplicate` gets the contexts. If that fails, the call
// that ends the request frees `duplicate` and sets *handle to MPI_COMM_NULL.
[[nodiscard]] std::unique_ptr<CallTask> duplication(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent,
                                                    mpi_adi::Communicator& duplicate, MPI_Comm* handle);

// Frees the contexts of a successful agreement that this rank does not use. `context`: the first of the pair.
inline void return_context(mpi_adi::MpiRank& rank, int context) {
  rank.worlds().contexts().give_back(context / 2);
}

// The bitwise and of words over all members, along the spanning tree. Agreements consist of such ands. Unlike a
// reduction and a broadcast it reports a lost member to all others. Cost: 2 ceil(log2 p) (α + n β).
//
// `words`: this member's, then the result, equal on all. `error_class`: MPI_SUCCESS on all members; or, on the members
// that the failure reaches, MPIX_ERR_PROC_FAILED if a member is lost, MPI_ERR_TRUNCATE if one made another call.
// `words` are then unspecified. Several ands may follow each other in one phase of a call.
Steps and_tree(Collective& collective, std::vector<std::uint64_t>& words, int& error_class);

}  // namespace margay::collectives
