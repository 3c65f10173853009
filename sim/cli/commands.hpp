// The commands other than `run`.
#pragma once

namespace margay::sim {

// Parses the whole line and runs its command; the exit status.
[[nodiscard]] int run_cli(int argc, char** argv);

}  // namespace margay::sim
