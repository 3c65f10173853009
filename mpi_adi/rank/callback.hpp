// Runs a function of the program's in the middle of a call.
#pragma once

#include <cstring>
#include <utility>

#include "mpi_adi/rank/rank.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

// Outside the process lock, so that the function may call MPI itself. Meanwhile other threads' calls and the
// coprocessor go on: what the caller knew of requests and handles before may no longer hold afterwards. Requires: the
// lock is held; it is on return.
template <typename Function>
auto call_program(MpiRank& rank, Function&& function) {
  // A call inside writes its own name to the board. Whoever waits here computes meanwhile, and other threads' waits go
  // on without it.
  sim::BoardBlock& board = rank.process().board();
  const auto name = board.mpi_call;
  const std::uint32_t waits = std::exchange(board.wait.is_waiting, 0);
  const bool threaded = rank.threaded();
  if (threaded) rank.wait_room().go_away();
  rank.leave();
  auto result = std::forward<Function>(function)();
  rank.enter();
  if (threaded) rank.wait_room().come_back();
  board.wait.is_waiting = waits;
  board.progress += waits;
  board.mpi_call = name;
  return result;
}

}  // namespace margay::mpi_adi
