// The command `margay trace`: one function for each subcommand, which adds it to the command line.
#pragma once

#include <string_view>

#include "command/trace/story/event_text.hpp"

namespace CLI {
class App;
}

namespace margay::command {

// Adds `margay trace` with all of its subcommands to `app`; a subcommand runs while `app` parses. `call_site` resolves
// addresses to lines of source; it may be empty. `page`: as add_trace_view()'s. Failures are thrown as
// CLI::RuntimeError with the exit status (1: bad trace or bad option, 2: the check found violations, or
// two traces differ).
void add_trace_command(CLI::App& app, const CallSite& call_site, std::string_view page);

// Checks the accounts of a trace.
void add_trace_check(CLI::App& trace);
// Compares two traces (docs/trace_diff.md).
void add_trace_diff(CLI::App& trace);
// Writes the trace in the format of another tool (docs/trace_export.md).
void add_trace_export(CLI::App& trace, const CallSite& call_site);
// Prints one line for each message.
void add_trace_messages(CLI::App& trace);
// Prints the events, one line each.
void add_trace_print(CLI::App& trace, const CallSite& call_site);
// Prints the story of one message.
void add_trace_story(CLI::App& trace, const CallSite& call_site);
// Writes the trace as a page. `page`: the built page; empty: this margay was built without it.
void add_trace_view(CLI::App& trace, const CallSite& call_site, std::string_view page);

}  // namespace margay::command
