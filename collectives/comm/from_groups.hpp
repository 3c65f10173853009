// Communicators of groups alone (MPI 4.0, 7.4.2 and 7.6.2). The library's own world carries the agreement, over the
// members' pairs only, whether the program has that communicator or not.
#pragma once

#include <string_view>

#include "collectives/comm/construct.hpp"

namespace margay::collectives {

// The tag of such an agreement's messages: 29 bits of a hash of the text and the members in their order, never
// MPI_ANY_TAG. Two that go on at once among the same processes and have the same tag by chance find out, and fail.
struct TextTag {
  TextTag(std::string_view text, const mpi_adi::Group& group);
  std::uint64_t hash;
  int tag;
};

// MPI_Comm_create_from_group. Only the members, of which this process is one, call. Made::error_class MPI_ERR_INTERN:
// the chance above.
[[nodiscard]] Made create_from_group(mpi_adi::MpiRank& rank, const mpi_adi::GroupPtr& group, std::string_view text);

// MPI_Intercomm_create_from_groups. `remote_leader`: its rank in the world; at the local leader only. error_class
// MPI_ERR_COMM: the groups have a process in common.
[[nodiscard]] Made join_from_groups(mpi_adi::MpiRank& rank, const mpi_adi::GroupPtr& local, int local_leader,
                                    std::uint32_t remote_leader, std::string_view text);

}  // namespace margay::collectives
