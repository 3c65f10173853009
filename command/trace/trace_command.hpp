// The subcommands of `margay trace`, each with the function that adds it to the command line.
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

// `margay trace check`: hold the accounts of a trace.

namespace CLI {
class App;
}

namespace margay::command {

void add_trace_check(CLI::App& trace);

}  // namespace margay::command

// `margay trace export`: a trace in the format of another tool (docs/trace_export.md).

namespace CLI {
class App;
}

namespace margay::command {

void add_trace_export(CLI::App& trace, const CallSite& call_site);

}  // namespace margay::command

// `margay trace messages`: a line for each message.

namespace CLI {
class App;
}

namespace margay::command {

void add_trace_messages(CLI::App& trace);

}  // namespace margay::command

// `margay trace print`: the events, one line each.

namespace CLI {
class App;
}

namespace margay::command {

void add_trace_print(CLI::App& trace, const CallSite& call_site);

}  // namespace margay::command

// `margay trace story`: the story of one message.

namespace CLI {
class App;
}

namespace margay::command {

void add_trace_story(CLI::App& trace, const CallSite& call_site);

}  // namespace margay::command

// `margay trace view`: the trace as a page.

namespace CLI {
class App;
}

namespace margay::command {

// `page`: the built page; empty: this margay was built without.
void add_trace_view(CLI::App& trace, const CallSite& call_site, std::string_view page);

}  // namespace margay::command
