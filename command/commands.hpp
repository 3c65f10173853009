// The commands other than `run` and `lab`.
#pragma once

#include "command/call_sites.hpp"

namespace margay::command {

// Parses the whole line and runs its command; the exit status.
[[nodiscard]] int run_cli(int argc, char** argv, CallSites& call_sites);

}  // namespace margay::command
