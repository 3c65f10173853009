// The command `margay simulate`: runs the ranks of an MPI program in one process, in virtual time
// (virtual_machine/world).
#pragma once

#include <CLI/CLI.hpp>

#include "command/trace/story/event_text.hpp"

namespace margay::command {

// Adds the command to `app`. Its callback replaces this process by the program, or runs it in child processes.
// `call_site`: for reports.
void add_simulate_command(CLI::App& app, const CallSite& call_site);

}  // namespace margay::command
