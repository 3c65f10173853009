// What the job board says of one rank: where it is, which SIGUSR1 asks the launcher, and how it ended.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "command/run/report/stall.hpp"
#include "command/run/report/watch.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {

// In which of MPI's calls, or in its program, and for whom it waits there. `library`: another MPI library that it has
// loaded; empty: none.
[[nodiscard]] std::string describe_state(const sim::Board& board, std::uint32_t rank, pid_t pid, bool ended,
                                         const std::string& library, const NamePlace& name_place = {});
// It has begun MPI and can say more by itself.
[[nodiscard]] bool can_tell_more(const sim::BoardBlock& block, bool ended);

// `value`: the signal, or the exit status. Of a rank that has not begun MPI the board says nothing.
[[nodiscard]] RankEnd end_on_board(const sim::BoardBlock& block, bool by_signal, int value);

}  // namespace margay::command
