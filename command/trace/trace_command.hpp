// `margay trace`: story, messages, view, print, check.
#pragma once

#include <string_view>

#include "command/trace/story/words.hpp"

namespace CLI {
class App;
}

namespace margay::command {

// Adds the command to `app`. `call_site` tells a line of source by an address; it may be empty. `page`: as
// add_trace_view()'s. It runs while `app`
// parses; a failure is thrown as CLI::RuntimeError with the exit status (1: bad trace or bad option, 2: the check found
// violations), which CLI::App::exit() turns into that status.
void add_trace_command(CLI::App& app, const CallSite& call_site, std::string_view page);

}  // namespace margay::command
