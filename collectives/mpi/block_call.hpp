// The whole of a binding that moves blocks.
#pragma once

#include "collectives/mpi/block_move.hpp"
#include "collectives/mpi/request_call.hpp"

namespace margay::collectives {

inline int move(mpi_adi::Call& call, const MoveArguments& arguments) {
  return perform_checked<BlockMove>(call, arguments);
}
inline int move(mpi_adi::Call& call, Form form, const MoveArguments& arguments, MPI_Request* request) {
  return give_request<BlockMove, CheckedTask<BlockMove>>(call, form, arguments, request);
}

}  // namespace margay::collectives
