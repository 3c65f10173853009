// Parsers for parts of the command line: tokens, durations, configuration files, host lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// The nonempty pieces between separators; one empty piece if all are empty.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
// The pieces before and after the first separator. Requires: there is one.
[[nodiscard]] std::vector<std::string> split_once(std::string_view text, char separator);
// Splits a line into tokens as a simple shell does: white space separates, ' and " quote, \ quotes the next character.
// Error: a quotation that does not end.
[[nodiscard]] portals::Status split_tokens(std::string_view line, std::vector<std::string>& tokens);
// Reads a Hydra configuration file: one part of the command line on each line, '#' comments; parts are joined by ":".
[[nodiscard]] portals::Status read_config_tokens(const std::string& path, std::vector<std::string>& tokens);
// Parses a duration: seconds (2.5), a number with its unit (20ms, 5s, 1.5min), or h:m:s parts (1:30); from 1e-6 to 1e8
// seconds. Error: names `option`, and the allowed forms.
[[nodiscard]] portals::Status parse_timeout(const std::string& option, const std::string& text, double& seconds);

// Host names of the command line. margay run starts ranks on this host only, so a list with another host is an error.

// This host's name for messages; not looked up in a name service.
[[nodiscard]] std::string host_name();
// Checks `host` or `host:ranks`. Error: it is not this host (its name with or without domain, localhost, 127.0.0.1,
// ::1).
[[nodiscard]] portals::Status check_host(const std::string& host);
// Reads the names in a host file: one on each line as `host`, `host:ranks` or `host slots=N`, '#' comments.
[[nodiscard]] portals::Status read_hosts(const std::string& path, std::vector<std::string>& hosts);

}  // namespace margay::command
