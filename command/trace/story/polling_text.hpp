// The sentence of a trace event about the polling of a wire.
#pragma once

#include <string>

#include "sim/trace/event.hpp"

namespace margay::command {

// The end of a sentence that begins with a rank: "polls the wire tcp in one round in 64: ...". Requires: an event of
// the kind poll_interval_changed whose fields are in the ranges of the schema.
[[nodiscard]] std::string polling_text(const sim::TraceEvent& event);

}  // namespace margay::command
