// Construction of communicators: from others, from groups, from edges of a graph, from what members share.
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
// A communicator whose contexts are agreed on when `task` is over. `communicator` null: handles are used up.
struct Begun {
  mpi_adi::Communicator* communicator = nullptr;
  std::unique_ptr<CallTask> task;
};
// MPI_Comm_idup: duplicate() by a call that does not block. The communicator is there at once; *handle is the program's
// variable, set to MPI_COMM_NULL if the agreement fails.
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

// Intercommunicators out of two intracommunicators, and back (MPI 4.0, 7.6).

// MPI_Intercomm_create. `peer`, `remote_leader`: at the local leader only. error_class MPI_ERR_COMM: the groups have a
// process in common. Collective over both groups. Requires: `local` is an intracommunicator; checked ranks.
[[nodiscard]] Made join_groups(mpi_adi::MpiRank& rank, mpi_adi::Communicator& local, int local_leader,
                               mpi_adi::Communicator* peer, int remote_leader, int tag);

// MPI_Intercomm_merge: both groups merged, the group with `high` second; if both say the same, in an order that is
// equal on all members. Collective over both groups.
[[nodiscard]] Made merge_groups(mpi_adi::MpiRank& rank, mpi_adi::Communicator& inter, bool high);

// Communicators of groups alone (MPI 4.0, 7.4.2 and 7.6.2). The library's own world carries the agreement, over the
// members' pairs only, whether the program has that communicator or not.

// The tag of the messages of an agreement among a group: 29 bits of a hash of the text and the members in their order,
// never MPI_ANY_TAG. Two that go on at once among the same processes and have the same tag by chance find out, and
// fail.
struct TextTag {
  TextTag(std::string_view text, const mpi_adi::Group& group);
  std::uint64_t hash;
  int tag;
};

// MPI_Comm_create_from_group. Only the members, of which this process is one, call. Made::error_class MPI_ERR_INTERN:
// two agreements had one tag.
[[nodiscard]] Made create_from_group(mpi_adi::MpiRank& rank, const mpi_adi::GroupPtr& group, std::string_view text);

// MPI_Intercomm_create_from_groups. `remote_leader`: its rank in the world; at the local leader only. error_class
// MPI_ERR_COMM: the groups have a process in common.
[[nodiscard]] Made join_from_groups(mpi_adi::MpiRank& rank, const mpi_adi::GroupPtr& local, int local_leader,
                                    std::uint32_t remote_leader, std::string_view text);

// An edge of a distributed graph, sent to the two ranks at its ends (MPI_Dist_graph_create; MPI 4.0, 8.5.4).
struct Edge {
  int source;  // this and the destination: ranks of the communicator
  int destination;
  int weight;
};

// Whether edges that another member sent can be this one's, in a communicator of `size`.
[[nodiscard]] bool can_be_edges(std::span<const Edge> edges, int me, int size);

// The edges that begin or end here, out of all that the members of `parent` name; in the order of who names them.
// MPI_SUCCESS; MPIX_ERR_PROC_FAILED; MPI_ERR_TOPOLOGY, a member sent what cannot be edges of this one. Collective; a
// message between each two ranks of which one names the other.
[[nodiscard]] int distribute_edges(mpi_adi::MpiRank& rank, mpi_adi::Communicator& parent,
                                   const std::vector<Edge>& edges, mpi_adi::DistGraphTopology& mine);

// Which members of a communicator see the same folder (MPIX_COMM_TYPE_NEIGHBORHOOD with the hint nbhd_common_dirname).

// The color to split by: the lowest rank of the same host that sees the same folder at its `path`; MPI_UNDEFINED where
// there is none. (The name of a network's file system differs from host to host.) Collective.
// MPI_SUCCESS or MPIX_ERR_PROC_FAILED.
[[nodiscard]] int color_of_folder(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator, const std::string& path,
                                  int& color);

}  // namespace margay::collectives
