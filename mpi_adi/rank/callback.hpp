// The call of a function of the program in the middle of an MPI call: a user's reduction, or a function of a
// generalized request.
#pragma once

#include <cstring>
#include <utility>

#include "mpi_adi/rank/rank.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

// Runs `function` outside the process lock, so that it may call MPI itself, and returns its result. Other threads'
// calls and the coprocessor go on meanwhile: what the caller had read of requests and handles may be invalid
// afterwards. Requires: the lock is held; it is held on return.
// `function` returns a value, usually an MPI error code, and must not throw. Another call of this thread may begin and
// end inside it.
//
//   const int code = call_program(rank, [&] { return functions.call_query(extra_state, &status); });
template <typename Function>
auto call_program(MpiRank& rank, Function&& function) {
  // A call inside writes its own name to the board, and a thread that was waiting here computes meanwhile: both are
  // restored afterwards. Other threads' waits go on without this one.
  sim::BoardBlock& board = rank.process().board();
  const auto name = board.mpi_call;
  const std::uint32_t waits = std::exchange(board.wait.is_waiting, 0);
  const bool threaded = rank.threaded();
  // This thread may be the one that polls for all: another one takes its place.
  if (threaded) rank.wait_room().go_away();
  rank.leave();
  auto result = std::forward<Function>(function)();
  rank.enter();
  if (threaded) rank.wait_room().come_back();
  board.wait.is_waiting = waits;
  // A wait that was reported continues as a new one, since the program has computed in between.
  board.progress += waits;
  board.mpi_call = name;
  return result;
}

}  // namespace margay::mpi_adi
