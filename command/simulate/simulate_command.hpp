// The command `margay simulate`: runs the ranks of an MPI program in one process, in virtual time
// (virtual_machine/world).
#pragma once

#include <CLI/CLI.hpp>

namespace margay::command {

// Adds the command to `app`. Its callback replaces this process by the program.
void add_simulate_command(CLI::App& app);

}  // namespace margay::command
