#include "sim/boot/options.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "sim/base/poll_setting.hpp"
#include "sim/boot/parse.hpp"

namespace margay::sim {
namespace {

constexpr std::string_view kPrefix = "MARGAY_";
// All variables that margay reads, including those from the launcher to its ranks.
constexpr std::string_view kKnown[] = {"protocol",      "wire_tcp",
                                       "method",        "trace",
                                       "trace_walks",   "trace_events",
                                       "heap_bytes",    "wait",
                                       "iface",         "stall_seconds",
                                       "leaks",         "check_types",
                                       "strict",        "initial_errhandler",
                                       "rank",          "board_fd",
                                       "node_fd",       "findings_fd",
                                       "appnum",        "program_ranks",
                                       "collective",    "rates",
                                       "calibrate",     "rma",
                                       "check_rma",     "trace_last_seconds",
                                       "findings_path", "threads",
                                       "pmi_fds",       "way",
                                       "skip_poll",     "forward",
                                       "user_folder",   "key_file"};

// The valid values of a variable: one of `choices`, or with `pairs` a comma-separated list of them. SIZE in `choices`
// stands for any value; the reader of the option checks it.
struct Form {
  std::string_view name;
  std::string_view choices;
  bool pairs = false;
};
constexpr Form kForms[] = {{"strict", "1|0"},
                           {"leaks", "1|0"},
                           {"check_types", "1|0"},
                           {"check_rma", "1|0"},
                           {"trace_walks", "1|0"},
                           {"wait", "spin|yield|auto"},
                           {"wire_tcp", "uring|epoll|auto"},
                           {"forward", "node"},
                           {"protocol", "long=puma|long=rendezvous|short_limit=SIZE", true},
                           {"method", "long=ring|long=cma|long=auto", true},
                           {"rma", "strided=combined|strided=paper", true}};

// Calls `use` with each part of `list`, until `use` returns false. Returns whether `use` returned true for all parts.
template <typename Use>
bool all_parts(std::string_view list, char separator, Use use) {
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(separator, begin), list.size());
    if (!use(list.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

bool is_choice_of(const Form& form, std::string_view text) {
  return !all_parts(form.choices, '|', [&](std::string_view choice) {
    const bool any_value = choice.ends_with("=SIZE");
    return any_value ? !text.starts_with(choice.substr(0, choice.find('=') + 1)) : text != choice;
  });
}

bool fits(const Form& form, std::string_view value) {
  if (!form.pairs) return is_choice_of(form, value);
  return all_parts(value, ',', [&](std::string_view pair) { return pair.empty() || is_choice_of(form, pair); });
}

// 30 years: in nanoseconds, this and less fits in 64 bits.
constexpr double kSecondsMax = 1e9;

// A microsecond: values below a nanosecond would become 0, which means "none".
constexpr double kSecondsMin = 1e-6;

bool is_seconds(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  return (seconds == 0 || seconds >= kSecondsMin) && seconds <= kSecondsMax && *end == '\0';
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::string variable_of(std::string_view name) {
  std::string variable(kPrefix);
  for (char c : name) variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return variable;
}

}  // namespace

Options Options::from_environment(char** environment) {
  Options options;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view variable(*environment);
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos || variable.substr(0, kPrefix.size()) != kPrefix) continue;
    std::string name(variable.substr(kPrefix.size(), equals - kPrefix.size()));
    for (char& c : name) c = lower(c);
    // A variable that occurs twice keeps its last value.
    options.set(std::move(name), std::string(variable.substr(equals + 1)));
  }
  // `strict` enables its checks here, so that other code tests only the option of its check.
  if (options.text("strict") == "1") {
    options.set("leaks", "1");
    options.set("check_types", "1");
    options.set("check_rma", "1");
  }
  return options;
}

std::vector<std::string> Options::misspelt() const {
  const std::vector<std::string_view> known(std::begin(kKnown), std::end(kKnown));
  std::vector<std::string> sentences;
  for (const auto& named : values_) {
    const std::string& name = named.first;
    if (std::ranges::find(known, name) != known.end()) continue;
    std::string_view near = nearest_spelling(name, known);
    // A name without its last word: MARGAY_HEAP, MARGAY_STALL.
    const auto longer = std::ranges::find_if(known, [&](std::string_view one) { return one.starts_with(name + "_"); });
    if (near.empty() && longer != known.end()) near = *longer;
    // Only likely mistakes are reported.
    if (near.empty()) continue;
    sentences.push_back("variable " + variable_of(name) + " is unknown and changes nothing; did you mean " +
                        variable_of(near) + "?");
  }
  return sentences;
}

portals::Status Options::check() const {
  for (const Form& form : kForms) {
    const std::string value = text(form.name);
    if (value.empty() || fits(form, value)) continue;
    return portals::Status::error(variable_of(form.name) + ": invalid value \"" + value + "\"; use " +
                                  std::string(form.choices));
  }
  for (const char* name : {"stall_seconds", "trace_last_seconds"}) {
    const std::string seconds = text(name);
    if (is_seconds(seconds)) continue;
    return portals::Status::error(variable_of(name) + "=" + seconds +
                                  " is not a number of seconds: take 0, or from 1e-6 to 1e9");
  }
  std::vector<NamedPollSetting> polling;
  if (portals::Status status = parse_poll_settings(text("skip_poll"), polling); !status.ok()) {
    return portals::Status::error(variable_of("skip_poll") + ": " + status.sentence());
  }
  std::uint64_t size = 0;
  for (const char* name : {"trace_events", "heap_bytes"}) {
    if (portals::Status status = bytes(name, size); !status.ok()) return status;
  }
  return {};
}

std::string Options::text(std::string_view name, std::string_view otherwise) const {
  const auto it = values_.find(name);
  return it == values_.end() ? std::string(otherwise) : it->second;
}

std::string Options::item(std::string_view name, std::string_view key, std::string_view otherwise) const {
  const std::string list = text(name);
  std::string found(otherwise);
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view pair = std::string_view(list).substr(begin, end - begin);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == key) found = pair.substr(equals + 1);
    begin = end + 1;
  }
  return found;
}

std::uint64_t Options::seconds_ns(std::string_view name, std::uint64_t otherwise) const {
  constexpr double kNsPerSecond = 1e9;
  const double seconds = std::strtod(text(name).c_str(), nullptr);
  return seconds > 0 ? static_cast<std::uint64_t>(seconds * kNsPerSecond) : otherwise;
}

portals::Status Options::bytes(std::string_view name, std::uint64_t& out) const {
  const auto it = values_.find(name);
  if (it == values_.end()) return {};
  std::uint64_t value = 0;
  if (!parse_bytes(it->second, value)) {
    return portals::Status::error(variable_of(name) + "=" + it->second +
                                  " is not a size; write bytes, or a number with k, m or g");
  }
  out = value;
  return {};
}

bool parse_bytes(std::string_view text, std::uint64_t& bytes) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t value = 0;
  std::size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    // Tested before the multiplication, which could wrap.
    if (value > (kMax - digit) / 10) return false;
    value = value * 10 + digit;
  }
  if (i == text.size()) {
    bytes = value;
    return true;
  }
  if (i + 1 != text.size()) return false;
  int shift = 0;
  switch (lower(text[i])) {
    case 'k':
      shift = 10;
      break;
    case 'm':
      shift = 20;
      break;
    case 'g':
      shift = 30;
      break;
    default:
      return false;
  }
  if (value > (kMax >> shift)) return false;
  bytes = value << shift;
  return true;
}

}  // namespace margay::sim
