// Which members of a communicator see the same folder (MPIX_COMM_TYPE_NEIGHBORHOOD with the hint nbhd_common_dirname).
#pragma once

#include <string>

#include "mpi_adi/rank/rank.hpp"

namespace margay::collectives {

// The color of this member's part: the lowest rank that sees the same folder under its `path` (of the same host: what a
// network's file system is called differs from host to host); MPI_UNDEFINED where there is none. Collective.
// MPI_SUCCESS or MPIX_ERR_PROC_FAILED.
[[nodiscard]] int color_of_folder(mpi_adi::MpiRank& rank, mpi_adi::Communicator& communicator, const std::string& path,
                                  int& color);

}  // namespace margay::collectives
