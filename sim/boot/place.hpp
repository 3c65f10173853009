// A rank's place in its job is one process's, once: channels, counters and what is unexpected there are never another
// program's. A second one (`sh -c './a; ./b'`, two at once, a child forked before MPI_Init) is refused, and
// ends the job: the first may be at work, and a shell between may hide the second one's status.
#pragma once

#include <cstdint>

#include "portals/base/status.hpp"
#include "sim/boot/board.hpp"

namespace margay::sim {

// Under `margay run`: by the board. Error: somebody has the place, or had it.
[[nodiscard]] portals::Status take_place_on_board(const Board& board, std::uint32_t rank);

// Under a foreign launcher: by a lock on the PMI connection, which all processes in the rank's place share. The kernel
// gives it back as the process ends, so it tells those that are there at once; of one before this one the launcher's
// keys tell (sim/boot/pmi_join). Error: another process holds it.
[[nodiscard]] portals::Status take_place_on_connection(int descriptor);

// The refusal; `holder` 0: not known.
[[nodiscard]] portals::Status place_is_taken(std::int32_t holder);

}  // namespace margay::sim
