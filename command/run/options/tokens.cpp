#include "command/run/options/tokens.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

#include "sim/boot/parse.hpp"

namespace margay::command {

using portals::Status;

namespace {

// The text before its unit, and the unit in seconds. "m" alone is invalid: it could mean minutes or milliseconds.
std::pair<std::string_view, double> take_unit(std::string_view text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"ms", 1e-3}, {"s", 1.0}, {"min", 60.0}};
  for (const auto& [unit, in_seconds] : kUnits) {
    if (text.ends_with(unit)) return {text.substr(0, text.size() - unit.size()), in_seconds};
  }
  return {text, 1.0};
}

}  // namespace

// An empty text yields one empty piece, so that callers can always take the first.
std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) pieces.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (pieces.empty()) pieces.emplace_back();
  return pieces;
}

// The second piece may contain the separator.
std::vector<std::string> split_once(std::string_view text, char separator) {
  const std::size_t at = text.find(separator);
  return {std::string(text.substr(0, at)), std::string(text.substr(at + 1))};
}

Status split_tokens(std::string_view line, std::vector<std::string>& tokens) {
  std::string token;
  bool in_token = false;
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0 && c == quote) {
      quote = 0;
      // As in a shell, a backslash is literal inside single quotes.
    } else if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      token += line[++i];
      in_token = true;
    } else if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
      in_token = true;
    } else if (quote == 0 && (c == ' ' || c == '\t' || c == '\r')) {
      if (in_token) tokens.push_back(token);
      token.clear();
      in_token = false;
    } else {
      token += c;
      in_token = true;
    }
  }
  if (quote != 0) {
    return Status::error(std::string("a quotation ") + quote + " does not end in \"" + std::string(line.substr(0, 80)) +
                         "\"");
  }
  if (in_token) tokens.push_back(token);
  return {};
}

// A line is a part of the command line, so lines are joined as parts are.
Status read_config_tokens(const std::string& path, std::vector<std::string>& tokens) {
  std::ifstream file(path);
  if (!file) return Status::error("cannot read the configuration file " + path + ": " + std::strerror(errno));
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos || line[first] == '#') continue;
    if (!tokens.empty()) tokens.emplace_back(":");
    if (Status status = split_tokens(line, tokens); !status.ok()) return Status::error(path + ": " + status.sentence());
  }
  return tokens.empty() ? Status::error("the configuration file " + path + " names no program") : Status();
}

Status parse_timeout(const std::string& option, const std::string& text, double& seconds) {
  const auto [number, unit] = take_unit(text);
  double total = 0;
  bool good = unit == 1 || number.find(':') == std::string_view::npos;
  for (const std::string& part : split(number, ':')) {
    double value = 0;
    good = good && sim::parse_number(std::string_view(part), value) && value >= 0;
    // For h:m:s as for m:s: at each colon the sum so far counts sixtyfold.
    total = total * 60 + value;
  }
  total *= unit;
  // The least duration is far above the shortest one that does not round to 0 ns, which would mean: no limit.
  constexpr double kLeast = 1e-6;
  constexpr double kMost = 1e8;
  if (!good) {
    return Status::error(
        "option " + option + ": \"" + text +
        "\" is not a duration; write seconds (2.5), a number with ms, s or min (20ms), or h:m:s (1:30)");
  }
  // Negated, so that NaN fails.
  if (!(total >= kLeast && total <= kMost)) {
    return Status::error("option " + option + ": \"" + text + "\" is out of range; take from 1e-6 to 1e8 seconds");
  }
  seconds = total;
  return {};
}

using portals::Status;

// "localhost" if the system has no name.
std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 && name[0] != '\0' ? std::string(name) : std::string("localhost");
}

Status check_host(const std::string& host) {
  std::string name = host;
  // The suffix is a number of ranks.
  if (name != "::1" && name.find(':') != std::string::npos) name.resize(name.find(':'));
  const std::string own = host_name();
  const std::string own_without_domain = own.substr(0, own.find('.'));
  if (name == "localhost" || name == "127.0.0.1" || name == "::1" || name == own || name == own_without_domain)
    return {};
  return Status::error(
      "host \"" + host.substr(0, 200) + "\" is not this one (" + own +
      "): margay run starts ranks on this host only, on several emulated nodes with --nodes; for several "
      "hosts start the program with MPICH's mpiexec or srun --mpi=pmi2");
}

Status read_hosts(const std::string& path, std::vector<std::string>& hosts) {
  std::ifstream file(path);
  if (!file) return Status::error("cannot read the host file " + path + ": " + std::strerror(errno));
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    // The remainder is "slots=N" or a comment.
    const std::size_t end = line.find_first_of(" \t\r#", begin);
    hosts.push_back(line.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return hosts.empty() ? Status::error("the host file " + path + " names no host") : Status();
}

}  // namespace margay::command
