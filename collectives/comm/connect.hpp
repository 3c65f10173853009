// Intercommunicators between groups of processes that have no common communicator (MPI 4.0, 11.9 and 11.10.5): their
// roots meet at a port (mpi_adi/rank/ports), exchange the members of the groups, and agree with all members on contexts
// that are free in both groups. Nothing here assumes that the two sides have the same MPI_COMM_WORLD: members are named
// by their places in the job.
#pragma once

#include <string>
#include <string_view>

#include "collectives/comm/construct.hpp"
#include "mpi_adi/rank/ports.hpp"

namespace margay::collectives {

// The result of accept_group() and connect_group(), equal on all members of the group. If `result` is not `met`, the
// roots did not meet, and port_error_text() words the reason. Otherwise as Made; error_class MPI_ERR_COMM: a process is
// in both groups.
struct Connected : Made {
  mpi_adi::PortResult result = mpi_adi::PortResult::met;
};

// The group of `local` accepts the next caller of the port (MPI_Comm_accept), or calls it (MPI_Comm_connect).
// Collective over `local`, an intracommunicator. `port_name`: significant at the root; may be any text. `function`: the
// program's call, a literal, for reports. Cost beside the wait for the other root: three broadcasts, and the rounds of
// an agreement.
[[nodiscard]] Connected accept_group(mpi_adi::MpiRank& rank, mpi_adi::Communicator& local, int root,
                                     std::string_view port_name, const char* function);
[[nodiscard]] Connected connect_group(mpi_adi::MpiRank& rank, mpi_adi::Communicator& local, int root,
                                      std::string_view port_name, const char* function);

// The message of a failed accept or connect. `why`: as in Connected.
[[nodiscard]] std::string port_error_text(mpi_adi::PortResult result, const std::string& why);

}  // namespace margay::collectives
