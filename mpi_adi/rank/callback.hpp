// Runs a function of the program's in the middle of a call.
#pragma once

#include <cstring>
#include <utility>

#include "mpi_adi/rank/rank.hpp"

namespace margay::mpi_adi {

// Outside the process lock, so that the function may call MPI itself. Meanwhile other threads' calls and the
// coprocessor go on: what the caller knew of requests and handles before may no longer hold afterwards. Requires: the
// lock is held; it is on return.
template <typename Function>
auto call_program(MpiRank& rank, Function&& function) {
  // A call inside writes its own name to the board.
  auto& on_board = rank.process().board().mpi_call;
  const auto name = on_board;
  rank.leave();
  auto result = std::forward<Function>(function)();
  rank.enter();
  on_board = name;
  return result;
}

}  // namespace margay::mpi_adi
