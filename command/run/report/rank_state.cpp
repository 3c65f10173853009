#include "command/run/report/rank_state.hpp"

#include "command/run/report/report.hpp"
#include "command/run/report/stall.hpp"

namespace margay::command {

bool can_report(const sim::BoardBlock& block, bool ended) {
  return block.state == sim::RankState::initialized && !ended;
}

std::string describe_state(const sim::Board& board, std::uint32_t rank, pid_t pid, bool ended,
                           const std::string& library, const NameLocation& name_location) {
  const sim::BoardBlock& block = board.block(rank);
  ended = ended || block.thread_ended != 0;
  // The block of a rank that has ended shows its last state, which is out of date.
  const bool inside = can_report(block, ended);
  const std::string call = describe_call(board, rank, name_location);
  return "margay: rank " + std::to_string(rank) + " (pid " + std::to_string(pid) + ") " +
         (ended ? "has ended" : "in " + (inside && !call.empty() ? call : "the program")) +
         (inside && block.wait.is_waiting != 0 ? ": " + describe_wait(block) : "") +
         // A rank whose program has loaded another MPI never calls margay's MPI_Init, so it seems to compute for a long
         // time.
         (library.empty() ? "" : ", which has loaded " + library);
}

RankEnd end_on_board(const sim::BoardBlock& block, bool by_signal, int value, bool is_awaited) {
  RankEnd end;
  end.by_signal = by_signal;
  end.value = value;
  end.aborting = block.state == sim::RankState::aborting;
  end.abort_code = block.abort_code;
  end.text = clean_text(block.message);
  // RankState::aborting counts as begun, too.
  end.called_init = block.state != sim::RankState::started;
  end.called_finalize = block.state == sim::RankState::finalized;
  if (end.called_finalize && is_awaited && block.has_begun_world == 0) end.called_init = end.called_finalize = false;
  return end;
}

}  // namespace margay::command
