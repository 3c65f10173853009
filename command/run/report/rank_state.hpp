// The state of one rank, read from the job board: its call in progress, which a SIGUSR1 to the launcher prints, and its
// end.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "command/run/report/monitor.hpp"
#include "command/run/report/stall.hpp"
#include "sim/boot/board.hpp"

namespace margay::command {

// One line: the rank's MPI call, or "the program", and its wait. `library`: another MPI's library that the rank has
// loaded; empty: none. `name_location` may be empty.
[[nodiscard]] std::string describe_state(const sim::Board& board, std::uint32_t rank, pid_t pid, bool ended,
                                         const std::string& library, const NameLocation& name_location = {});
// Whether the rank is in MPI and runs, so that a SIGUSR1 makes it print details itself.
[[nodiscard]] bool can_report(const sim::BoardBlock& block, bool ended);

// The end of a rank as the board and the operating system show it. `value`: the signal or the exit status. The board
// has nothing of a rank that did not begin MPI. `is_awaited`: see BoardPlace; a library or a session that such a
// process has begun and ended does not count as MPI_Init.
[[nodiscard]] RankEnd end_on_board(const sim::BoardBlock& block, bool by_signal, int value, bool is_awaited = false);

}  // namespace margay::command
