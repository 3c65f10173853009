// The events themselves, by the names of their fields (docs/trace_export.md): for programs that read a trace.
#pragma once

#include <ostream>

#include "command/trace/read/reader.hpp"

namespace margay::command {

// All events of all ranks, the trace's definitions, and what each kind and field means.
void write_json(const Trace& trace, std::ostream& out);

}  // namespace margay::command
