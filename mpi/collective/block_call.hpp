// The whole of a binding that moves blocks.
#pragma once

#include "mpi/collective/block_move.hpp"
#include "mpi/collective/request_call.hpp"

namespace margay::mpi {

inline int move(Call& call, const MoveArguments& arguments) {
  return perform_checked<BlockMove>(call, arguments);
}
inline int move(Call& call, Form form, const MoveArguments& arguments, MPI_Request* request) {
  return give_request<BlockMove, CheckedTask<BlockMove>>(call, form, arguments, request);
}

}  // namespace margay::mpi
