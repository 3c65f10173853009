// `margay trace export`: a trace in the format of another tool (docs/trace_export.md).
#pragma once

#include "sim/trace/story/words.hpp"

namespace CLI {
class App;
}

namespace margay::sim {

void add_trace_export(CLI::App& trace, const CallSite& call_site);

}  // namespace margay::sim
