// The construction of communicators: from other communicators, from groups, from the edges of a graph, or of members
// that see the same folder. Collective over the members; under the process lock.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/portal/collective.hpp"
#include "collectives/select/call_task.hpp"
#include "mpi_adi/object/context_agreement.hpp"
#include "mpi_adi/object/topology.hpp"
#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

// The result of a construction. `communicator` is null if this process is not in the new communicator (MPI_COMM_NULL),
// or on failure. On failure error_class is MPI_ERR_OTHER (contexts or handles are used up), MPIX_ERR_PROC_FAILED, or a
// class that the function names.
struct Made {
  mpi_adi::Communicator* communicator = nullptr;
  int error_class = 0;
  // Describes error_class; usually empty.
  std::string why = {};
};

// Makes a communicator of these groups in the agreed contexts, with the error handler of `parent`. If handles are used
// up, the contexts become free again.
[[nodiscard]] Made make_communicator(mpi_adi::MpiRank& rank, mpi_adi::GroupPtr group, mpi_adi::GroupPtr remote,
                                     const mpi_adi::AgreedContext& agreed, const mpi_adi::Communicator& parent);

// MPI_Comm_dup: the same groups and topology, new contexts.
[[nodiscard]] Made duplicate(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent);
// A communicator that gets its contexts when `task` completes. `communicator` null: handles are used up.
struct Begun {
  mpi_adi::Communicator* communicator = nullptr;
  std::unique_ptr<CallTask> task;
};
// MPI_Comm_idup: duplicate() as a nonblocking call. The communicator exists at once; *handle is the program's variable,
// set to MPI_COMM_NULL if the agreement fails.
[[nodiscard]] Begun begin_duplicate(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, MPI_Comm* handle);

// MPI_Comm_split: a communicator for each color, with the members of that color ordered by key, then by rank. For an
// intercommunicator both groups are split.
[[nodiscard]] Made split(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, int color, int key);

// MPI_Comm_create: a communicator for each of several disjoint groups. Each member names the group to which it will
// belong; in an intercommunicator all members of one of its groups name the same group. Requires: `group` is a subset
// of the parent's.
[[nodiscard]] Made create(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, const mpi_adi::GroupPtr& group);
// MPI_Comm_create_group: only the members of `group` call; this process is one of them. Requires: `parent` is an
// intracommunicator.
[[nodiscard]] Made create_group(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent, const mpi_adi::GroupPtr& group,
                                int tag);

// Intercommunicators from two intracommunicators, and back (MPI 4.0, 7.6).

// MPI_Intercomm_create. `peer`, `remote_leader`: at the local leader only. error_class MPI_ERR_COMM: the groups have a
// process in common. Requires: `local` is an intracommunicator; ranks are checked.
[[nodiscard]] Made join_groups(mpi_adi::MpiRank& rank, mpi_adi::Communicator& local, int local_leader,
                               mpi_adi::Communicator* peer, int remote_leader, int tag);

// MPI_Intercomm_merge: both groups as one, the group with `high` second; if both pass the same value, in an order that
// is equal on all members.
[[nodiscard]] Made merge_groups(mpi_adi::MpiRank& rank, mpi_adi::Communicator& inter, bool high);

// Communicators from groups alone (MPI 4.0, 7.4.2 and 7.6.2). The agreement runs on the library's own world, between
// the members only, whether the program has MPI_COMM_WORLD or not.

// The tag of an agreement among a group: 29 bits of a hash of the string tag and the members in their order, never
// MPI_ANY_TAG. Two simultaneous agreements that have the same tag by chance detect this by the whole `hash`, and fail.
// `guests`: those of this process, if the group has members of several jobs, which give a process different places.
struct TextTag {
  TextTag(std::string_view text, const mpi_adi::Group& group, const sim::Guests* guests = nullptr);
  std::uint64_t hash;
  int tag;
};

// MPI_Comm_create_from_group. Only the members of `group` call; this process is one of them. error_class
// MPI_ERR_INTERN: two agreements had one tag.
[[nodiscard]] Made create_from_group(mpi_adi::MpiRank& rank, const mpi_adi::GroupPtr& group, std::string_view text);

// MPI_Intercomm_create_from_groups. `remote_leader`: the remote leader's place, at the local leader only.
// error_class MPI_ERR_COMM: the groups have a process in common.
[[nodiscard]] Made join_from_groups(mpi_adi::MpiRank& rank, const mpi_adi::GroupPtr& local, int local_leader,
                                    std::uint32_t remote_leader, std::string_view text);

// An edge of a distributed graph, sent to the two ranks at its ends (MPI_Dist_graph_create; MPI 4.0, 8.5.4).
struct Edge {
  int source;  // this and the destination: ranks of the communicator
  int destination;
  int weight;
};

// Whether edges that another member sent to this one are valid in a communicator of `size` ranks: all ranks are in
// range, and each edge begins or ends at `me`, this member's rank.
[[nodiscard]] bool can_be_edges(std::span<const Edge> edges, int me, int size);

// Collects in `mine` the edges that begin or end at this rank, out of the `edges` of all members, ordered by the rank
// that names them. Returns MPI_SUCCESS; MPIX_ERR_PROC_FAILED; MPI_ERR_TOPOLOGY, a member sent invalid edges;
// MPI_ERR_NO_MEM. Costs a reduction and a broadcast of a number for each rank, and a message from each member to each
// rank at an end of its edges.
[[nodiscard]] int distribute_edges(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent,
                                   const std::vector<Edge>& edges, mpi_adi::DistGraphTopology& mine);

// Members of a communicator that see the same folder (MPIX_COMM_TYPE_NEIGHBORHOOD with the hint nbhd_common_dirname).

// The color to split by: the lowest rank of the same host that sees the same folder at its `path`; MPI_UNDEFINED if
// `path` is not a folder. Folders of different hosts count as different, because the device number of a network file
// system may differ between hosts. Returns MPI_SUCCESS or MPIX_ERR_PROC_FAILED.
[[nodiscard]] int color_of_folder(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator, const std::string& path,
                                  int& color);

}  // namespace margay::collectives
