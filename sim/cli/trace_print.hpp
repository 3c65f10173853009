// `margay trace print`: the events, one line each.
#pragma once

#include "sim/trace/story/words.hpp"

namespace CLI {
class App;
}

namespace margay::sim {

void add_trace_print(CLI::App& trace, const CallSite& call_site);

}  // namespace margay::sim
