// SimGrid's time-independent trace: what each rank computes, sends and waits for, which `smpirun -replay` runs again on
// a platform of one's own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "command/trace/export/timeline.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

struct Replay {
  std::vector<std::vector<std::string>> ranks;  // by rank: its actions, a line each
  // What the trace does not tell enough of to be replayed.
  std::uint64_t left_out_messages = 0;  // of one-sided communication or of the library, cancelled, not received
  std::uint64_t left_out_accesses = 0;  // of windows
  std::uint64_t left_out_calls = 0;     // collective ones in memory of a node, of which nothing tells who read what
};

// Messages have their real sizes, those of collective calls too: margay's algorithms are replayed, not SimGrid's. The
// third number of an action is the message's sequence in its pair, in place of its tag, so each receive takes the
// message that it took. `flops_per_second`: what a second between two calls is worth. Errors: a rank without a file; no
// call of MPI.
[[nodiscard]] portals::Status replay_of(const ExportSource& source, const std::vector<MessageStory>& stories,
                                        double flops_per_second, Replay& replay);
// FOLDER/actions names a file of each rank beside it. Requires: the folder is there. Errors: as the system tells.
[[nodiscard]] portals::Status write_smpi_ti(const Replay& replay, const std::string& folder);

}  // namespace margay::command
