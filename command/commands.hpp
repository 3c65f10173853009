// The commands other than `run` and `lab`, with their command line.
#pragma once

#include <string>

#include "command/call_sites.hpp"

namespace margay::command {

// Parses the command line and runs its command. Returns the exit status. Prints errors itself.
[[nodiscard]] int run_cli(int argc, char** argv, CallSites& call_sites);

// The contents of docs/options.md, generated from the option tables of all commands.
[[nodiscard]] std::string options_document();

}  // namespace margay::command
