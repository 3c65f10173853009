// `margay trace print`: the events, one line each.
#pragma once

#include "command/trace/story/words.hpp"

namespace CLI {
class App;
}

namespace margay::command {

void add_trace_print(CLI::App& trace, const CallSite& call_site);

}  // namespace margay::command
