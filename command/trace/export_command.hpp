// `margay trace export`: a trace in the format of another tool (docs/trace_export.md).
#pragma once

#include "command/trace/story/words.hpp"

namespace CLI {
class App;
}

namespace margay::command {

void add_trace_export(CLI::App& trace, const CallSite& call_site);

}  // namespace margay::command
