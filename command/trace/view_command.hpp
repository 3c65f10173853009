// `margay trace view`: the trace as a page.
#pragma once

#include <string_view>

#include "command/trace/story/words.hpp"

namespace CLI {
class App;
}

namespace margay::command {

// `page`: the built page; empty: this margay was built without.
void add_trace_view(CLI::App& trace, const CallSite& call_site, std::string_view page);

}  // namespace margay::command
