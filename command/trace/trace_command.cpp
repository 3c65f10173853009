#include "command/trace/trace_command.hpp"

#include <CLI/CLI.hpp>

namespace margay::command {

void add_trace_command(CLI::App& app, const CallSite& call_site, std::string_view page) {
  CLI::App* trace = app.add_subcommand("trace", "read the traces that `margay run --trace DIR` recorded");
  // `margay trace` alone would do nothing, so CLI11 reports it as a mistake.
  trace->require_subcommand(1);
  // The order of the help: first subcommands that show a trace to a reader, then those whose output other programs use.
  add_trace_story(*trace, call_site);
  add_trace_messages(*trace);
  add_trace_view(*trace, call_site, page);
  add_trace_print(*trace, call_site);
  add_trace_check(*trace);
  add_trace_diff(*trace);
  add_trace_export(*trace, call_site);
}

}  // namespace margay::command
