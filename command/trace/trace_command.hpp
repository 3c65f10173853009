// The subcommands of `margay trace`, each with the function that adds it to the command line.
#pragma once

#include <string_view>

#include "command/trace/story/words.hpp"

namespace CLI {
class App;
}

namespace margay::command {

// Adds `margay trace` with all of its subcommands to `app`. `call_site` finds a line of source by an address; it may be
// empty. `page`: as add_trace_view()'s. It runs while `app` parses; a failure is thrown as CLI::RuntimeError with the
// exit status (1: bad trace or bad option, 2: the check found violations), which CLI::App::exit() turns into that
// status.
void add_trace_command(CLI::App& app, const CallSite& call_site, std::string_view page);

// Checks the accounts of a trace.
void add_trace_check(CLI::App& trace);
// A trace in the format of another tool (docs/trace_export.md).
void add_trace_export(CLI::App& trace, const CallSite& call_site);
// A line for each message.
void add_trace_messages(CLI::App& trace);
// The events, one line each.
void add_trace_print(CLI::App& trace, const CallSite& call_site);
// The story of one message.
void add_trace_story(CLI::App& trace, const CallSite& call_site);
// The trace as a page. `page`: the built page; empty: this margay was built without it.
void add_trace_view(CLI::App& trace, const CallSite& call_site, std::string_view page);

}  // namespace margay::command
