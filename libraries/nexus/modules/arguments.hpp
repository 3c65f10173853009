// The command line arguments of Nexus, which init takes out of the program's (paper 003, section 3.1):
//
//   --nexus-modules local,tcp     --nexus-parameter udp.linger_ms=20     --nexus-resources FILE
//   --nexus-order tcp,local       --nexus-skip-poll tcp=20
//   --nexus-off-node secure       --nexus-forwarder tcp=0=1-3
//   --nexus-load fifo=/opt/lib/fifo.so
//
// Each option also has the form --nexus-NAME=VALUE; --nexus-methods is a synonym of --nexus-modules. The variables
// MARGAY_NEXUS_MODULES and so on take the same values, with ';' between several values of one variable.
#pragma once

#include <string>
#include <vector>

#include "libraries/nexus/modules/choices.hpp"

namespace margay::nexus::core {

// Takes the arguments of Nexus before a `--` out of `words`, a program's arguments, and adds them to `choices`. The
// others keep their order. `resources`: the value of --nexus-resources; unchanged without it. Returns an error that
// names the argument and the cure, or an empty string; after an error nothing is changed.
[[nodiscard]] std::string take_arguments(std::vector<std::string>& words, Choices& choices, std::string& resources);

// Adds the values of the variables. `read` is getenv(). Returns an error that names the variable and the cure, or an
// empty string.
[[nodiscard]] std::string take_variables(const char* (*read)(const char* name), Choices& choices,
                                         std::string& resources);

}  // namespace margay::nexus::core
