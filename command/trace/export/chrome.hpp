// Chrome's trace event format (JSON), which chrome://tracing, ui.perfetto.dev and Speedscope open.
#pragma once

#include <ostream>
#include <vector>

#include "command/trace/export/timeline.hpp"

namespace margay::command {

// A process of the format is a rank, a thread one of its threads. Calls and waits are slices, a message is an arrow
// from the call that sent it to where it was received, and a bar of its own. Times are microseconds since the first
// event, with their nanoseconds. `stories` live as long as the call; `out`'s state tells whether it could be written.
void write_chrome(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out);

}  // namespace margay::command
