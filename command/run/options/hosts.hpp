// Host names of the command line. margay run starts ranks on this host; a list that names another is refused, not
// ignored.
#pragma once

#include <string>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// This host's name, for messages; never looked up.
[[nodiscard]] std::string host_name();
// `host` or `host:ranks`. Error when it is not this host (its name with or without domain, localhost, 127.0.0.1, ::1).
[[nodiscard]] portals::Status check_host(const std::string& host);
// The names in a host file: one a line, `host`, `host:ranks` or `host slots=N`, '#' comments.
[[nodiscard]] portals::Status read_hosts(const std::string& path, std::vector<std::string>& hosts);

}  // namespace margay::command
