// `margay info --collectives`: the rates of this machine, what follows from them for a group, and the picture of it.
#pragma once

#include "sim/cli/commands.hpp"

namespace margay::command {

// The exit status. Measures where nothing was measured on this machine, and keeps it: the first use.
[[nodiscard]] int info_collectives(const sim::CollectivesQuestion& question);

}  // namespace margay::command
