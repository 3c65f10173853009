// `margay info`: what margay would choose on this machine, each choice with its reason.
#pragma once

#include <string>
#include <vector>

namespace margay::sim {

// The lines of `margay info` for a job of `ranks` ranks on this host.
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks);
// `margay info --protocols`: size range, protocol, method, reason.
[[nodiscard]] std::vector<std::string> describe_protocols();

}  // namespace margay::sim
