// Perfetto's trace (protobuf), for ui.perfetto.dev and trace_processor.
#pragma once

#include <ostream>
#include <vector>

#include "command/trace/export/timeline.hpp"

namespace margay::command {

// A process of the format is a rank; a track below it is one of its threads, or a message on its way in time. Calls and
// waits are slices; a message's flow leads from its sending to its arrival and its receive. Times are nanoseconds since
// the first event. tests/mpi/exports/perfetto.proto has the fields.
void write_perfetto(const ExportSource& source, const std::vector<MessageStory>& stories, std::ostream& out);

}  // namespace margay::command
