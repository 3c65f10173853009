// `margay trace story`: the story of one message.
#pragma once

#include "command/trace/story/words.hpp"

namespace CLI {
class App;
}

namespace margay::command {

void add_trace_story(CLI::App& trace, const CallSite& call_site);

}  // namespace margay::command
