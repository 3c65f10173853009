// The command line arguments of Nexus, which init takes out of the program's (paper 003, section 3.1):
//
//   --nexus-modules local,tcp        --nexus-order tcp,local           --nexus-load fifo=/opt/lib/fifo.so
//   --nexus-parameter udp.linger_ms=20   --nexus-forwarder tcp=0       --nexus-resources FILE
//
// Each also as --nexus-NAME=VALUE.
#pragma once

#include <string>

#include "libraries/nexus/modules/choices.hpp"

namespace margay::nexus::core {

// Takes the arguments of Nexus before a `--` out of argv[1] to argv[argc - 1], and adds them to `choices`. The others
// keep their order, and argv[argc] is nullptr afterwards. `resources`: the value of --nexus-resources; unchanged without
// it. Returns an error that names the argument and the cure, or an empty string; after an error nothing is changed.
[[nodiscard]] std::string take_arguments(int& argc, char** argv, Choices& choices, std::string& resources);

}  // namespace margay::nexus::core
