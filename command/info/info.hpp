// `margay info`: what margay would choose on this machine, each choice with its reason.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace margay::command {

// The lines of `margay info` for a job of `ranks` ranks on this host.
[[nodiscard]] std::vector<std::string> describe_choices(unsigned ranks);
// Whether so many ranks on this host outnumber its processors.
[[nodiscard]] bool is_crowded(unsigned ranks);
// "64 KiB", "40 bytes"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace margay::command
