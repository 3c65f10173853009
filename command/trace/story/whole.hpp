// Whether a message's story is whole: every step of its protocol, on both sides, is in the trace.
#pragma once

#include <string>
#include <vector>

#include "command/trace/names/names.hpp"
#include "command/trace/story/messages.hpp"

namespace margay::command {

// What is missing of MPI messages between ranks whose files are whole and closed, a sentence each; nothing when all is
// there. Messages that nobody received have no receive, and one that was dropped has no more than its drop.
[[nodiscard]] std::vector<std::string> missing_steps(const Trace& trace, const TraceNames& names,
                                                     const Messages& messages);

}  // namespace margay::command
