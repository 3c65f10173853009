// The call of a function of the program in the middle of an MPI call: a user's reduction, or a function of a
// generalized request.
#pragma once

#include <cstring>
#include <utility>

#include "mpi_adi/rank/rank.hpp"
#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

// Runs `function` outside the process lock, so that it may call MPI itself, and returns its result. Other threads'
// calls and the coprocessor go on meanwhile, so everything that the caller has read of requests and handles may be
// invalid afterwards. Requires: the lock is held; it is held on return.
// `function` returns a value, usually an MPI error code, and must not throw. Another call of this thread may begin and
// end inside it.
//
//   const int code = call_program(rank, [&] { return functions.call_query(extra_state, &status); });
template <typename Function>
auto call_program(MpiRank& rank, Function&& function) {
  // A call inside `function` writes its own name to the board, and this thread does not wait meanwhile. So the name and
  // the count of waits are saved here, and restored afterwards.
  sim::BoardBlock& board = rank.process().board();
  const auto name = board.mpi_call;
  const std::uint32_t waits = std::exchange(board.wait.is_waiting, 0);
  const bool threaded = rank.threaded();
  // If this thread polls for all threads, another thread takes its place.
  if (threaded) rank.wait_room().begin_callback();
  rank.leave();
  sim::CallObserver* const observer = rank.process().call_observer();
  if (observer != nullptr) observer->end_call();
  auto result = std::forward<Function>(function)();
  if (observer != nullptr) observer->begin_call();
  rank.enter();
  if (threaded) rank.wait_room().end_callback();
  board.wait.is_waiting = waits;
  // A wait that was on the board continues as a new wait, because the program has computed in between.
  board.progress += waits;
  board.mpi_call = name;
  return result;
}

}  // namespace margay::mpi_adi
