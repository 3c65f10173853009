// The commands other than `run` and `lab`.
#pragma once

#include <string>

#include "command/call_sites.hpp"

namespace margay::command {

// Parses the whole line and runs its command; the exit status.
[[nodiscard]] int run_cli(int argc, char** argv, CallSites& call_sites);

// The text of docs/options.md, from the tables of options of all commands.
[[nodiscard]] std::string options_document();

}  // namespace margay::command
