// Text helpers of the command line: words, host lists, suggestions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

// The pieces between separators, empty ones left out; one empty piece when there is none at all.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);
// Two pieces: before and after the first separator, which must be there.
[[nodiscard]] std::vector<std::string> split_once(std::string_view text, char separator);
// Words as a simple shell reads them: white space parts them, ' and " keep them together, \ keeps the next character.
// Error: a quotation that does not end.
[[nodiscard]] portals::Status split_words(std::string_view line, std::vector<std::string>& words);
// A Hydra configuration file: a part of the command line on each line, '#' comments, joined by ":".
[[nodiscard]] portals::Status read_config_words(const std::string& path, std::vector<std::string>& words);
// A duration: seconds (2.5), a number with its unit (20ms, 5s, 1.5min), or h:m:s parts (1:30); from 1e-6 to 1e8
// seconds. Error names the word before it, and what may stand there.
[[nodiscard]] portals::Status parse_timeout(const std::string& word, const std::string& text, double& seconds);

// Host names of the command line. margay run starts ranks on this host; a list that names another is refused, not
// ignored.

// This host's name, for messages; never looked up.
[[nodiscard]] std::string host_name();
// `host` or `host:ranks`. Error when it is not this host (its name with or without domain, localhost, 127.0.0.1, ::1).
[[nodiscard]] portals::Status check_host(const std::string& host);
// The names in a host file: one a line, `host`, `host:ranks` or `host slots=N`, '#' comments.
[[nodiscard]] portals::Status read_hosts(const std::string& path, std::vector<std::string>& hosts);

}  // namespace margay::command
