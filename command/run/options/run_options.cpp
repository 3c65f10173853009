#include "command/run/options/run_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "collectives/select/choose.hpp"
#include "command/run/options/option_rules.hpp"
#include "command/run/options/tokens.hpp"
#include "sim/base/limits.hpp"
#include "sim/boot/board.hpp"
#include "sim/boot/options.hpp"
#include "sim/boot/parse.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {
namespace {

constexpr char kHeapVariable[] = "MARGAY_HEAP_BYTES";

using Tokens = std::vector<std::string>;

constexpr std::string_view kShortLimit = "short_limit";
constexpr std::string_view kPatternLetters = "rhgpt%";

// A short limit as it was written, with its option.
struct ShortLimit {
  std::string option;
  std::string value;
};

// State of one parse. Options apply to the current part or to the whole job, and some are checked only when the whole
// line is known.
class Parser {
 public:
  explicit Parser(RunOptions& out) : out_(out) {}

  Status parse(const Tokens& tokens) {
    std::size_t at = 0;
    while (at < tokens.size()) {
      if (Status status = parse_part(tokens, at); !status.ok()) return status;
    }
    if (!out_.programs.empty() || out_.show_help || out_.show_version) return check_whole();
    return Status::error("missing program: margay run [options] PROGRAM [arguments] [: ...]");
  }

 private:
  // Parses options and a program up to the next ":".
  Status parse_part(const Tokens& tokens, std::size_t& at) {
    part_ = ProgramSpec();
    last_value_.clear();
    while (at < tokens.size() && tokens[at].size() > 1 && tokens[at][0] == '-') {
      // Ends the options, so that a program's name may begin with a dash.
      if (tokens[at] == "--") {
        ++at;
        break;
      }
      if (Status status = parse_option(tokens, at); !status.ok()) return status;
    }
    while (at < tokens.size() && tokens[at] != ":") part_.argv.push_back(tokens[at++]);
    const bool more = at < tokens.size();
    // Skips the ":".
    if (more) ++at;
    if (!part_.argv.empty()) {
      out_.programs.push_back(part_);
      if (!more || at < tokens.size()) return {};
      return Status::error("nothing follows the last \":\"");
    }
    // A configuration file may have named all programs.
    const bool may_lack_program = !more && (took_config_file_ || out_.show_help || out_.show_version);
    return may_lack_program ? Status() : no_program();
  }

  // A missing program is often taken as the value of the option before it, so the message names that option.
  Status no_program() const {
    const std::string taken =
        last_value_.empty() ? "" : fmt::format(" (\"{}\" is the value of {})", last_value_, last_option_);
    return Status::error("missing program" + taken + ": margay run [options] PROGRAM [arguments ...]");
  }

  // Forms of a token are tried in this order: the whole name, a name with digits, a name with "=VALUE".
  Status parse_option(const Tokens& tokens, std::size_t& at) {
    const std::string& option = tokens[at++];
    std::string name = option.substr(option[1] == '-' ? 2 : 1);
    Tokens values;
    const std::size_t equals = name.find('=');
    const OptionRule* rule = find_option_rule(name);
    // Hydra accepts -n2 for -n 2.
    const std::size_t digits = name.find_first_of("0123456789");
    if (rule == nullptr && (name.substr(0, digits) == "n" || name.substr(0, digits) == "np") &&
        name.find_first_not_of("0123456789", digits) == std::string::npos) {
      values.push_back(name.substr(digits));
      name.resize(digits);
      rule = find_option_rule(name);
    }
    if (rule == nullptr && equals != std::string::npos) {
      values.push_back(name.substr(equals + 1));
      name.resize(equals);
      rule = find_option_rule(name);
    }
    if (rule == nullptr) return unknown_option(option, name);
    // -genv takes NAME=VALUE as one token or NAME VALUE as two.
    const bool joined =
        rule->values == 2 && values.empty() && at < tokens.size() && tokens[at].find('=') != std::string::npos;
    const auto wanted = static_cast<std::size_t>(joined ? 1 : rule->values);
    if (values.size() > wanted) return Status::error("option " + option + " takes no value");
    // no_program() needs the option and its value.
    last_option_ = option;
    last_value_.clear();
    while (values.size() < wanted && at < tokens.size()) last_value_ = values.emplace_back(tokens[at++]);
    if (values.size() < wanted) return Status::error("option " + option + " lacks its value");
    if (joined) values = split_once(values[0], '=');
    return apply(*rule, option, values);
  }

  Status apply(const OptionRule& rule, const std::string& option, const Tokens& values) {
    switch (rule.action) {
      case OptionAction::ranks:
        return number(option, values[0], sim::kRanksMax, part_.ranks);
      case OptionAction::threads:
        return number(option, values[0], sim::kThreadRanksMax, out_.threads);
      case OptionAction::nodes:
        return number(option, values[0], sim::kRanksMax, out_.nodes);
      case OptionAction::places:
        return number(option, values[0], sim::kRanksMax, out_.places);
      case OptionAction::ranks_per_node:
        return number(option, values[0], sim::kRanksMax, out_.processes_per_node);
      case OptionAction::timeout:
        return parse_timeout(option, values[0], out_.timeout_seconds);
      case OptionAction::global_env:
        return assign(option, values[0], values[1], out_.environment);
      case OptionAction::local_env:
        return assign(option, values[0], values[1], part_.environment);
      case OptionAction::config_file:
        return read_config_file(values[0]);
      case OptionAction::hosts:
        return take_hosts(split(values[0], ','));
      case OptionAction::host_file:
        return read_host_file(values[0]);
      case OptionAction::bind_to:
        return bind_to(rule, option, values[0]);
      case OptionAction::map_ranks:
        return map_ranks(rule, option, values[0]);
      case OptionAction::output_pattern:
        return pattern(option, values[0], out_.output_pattern);
      case OptionAction::line_pattern:
        return pattern(option, values[0], out_.line_pattern);
      case OptionAction::error_pattern:
        return pattern(option, values[0], out_.error_pattern);
      case OptionAction::mpi:
        return mpi(option, values[0]);
      case OptionAction::over:
        return over(option, values[0]);
      case OptionAction::input:
        input_option_ = option;
        input_ = values[0];
        return {};
      case OptionAction::trace_events:
        return trace_events(rule, option, values[0]);
      case OptionAction::choice:
      case OptionAction::deadlock:
        return choice(rule, option, values[0]);
      case OptionAction::heap:
        return heap(rule, option, values[0]);
      case OptionAction::collective:
        return collective(rule, option, values[0]);
      case OptionAction::pairs:
        return pairs(rule, option, values[0]);
      case OptionAction::short_limit:
        return pairs(*find_option_rule("protocol"), option, "short_limit=" + values[0]);
      case OptionAction::rank_option:
        return rank_option(rule, option, values[0]);
      case OptionAction::seconds:
        return seconds(rule, option, values[0]);
      default:
        return apply_plain(rule, option, values);
    }
  }

  // Actions that cannot fail.
  Status apply_plain(const OptionRule& rule, const std::string& option, const Tokens& values) {
    switch (rule.action) {
      case OptionAction::label:
        out_.line_pattern = "[%r] ";
        break;
      case OptionAction::global_env_none:
        out_.inherited.none = true;
        break;
      case OptionAction::global_env_list:
        out_.inherited.listed = true;
        for (std::string& name : split(values[0], ',')) out_.inherited.names.push_back(std::move(name));
        break;
      case OptionAction::export_env:
        // -x NAME has no effect: ranks inherit the variable anyway.
        if (values[0].find('=') != std::string::npos) {
          Tokens pair = split_once(values[0], '=');
          out_.environment.emplace_back(std::move(pair[0]), std::move(pair[1]));
        }
        break;
      case OptionAction::working_directory:
        part_.working_directory = values[0];
        break;
      case OptionAction::exit_codes:
        out_.print_exit_codes = true;
        break;
      case OptionAction::verbose:
        out_.verbose = true;
        break;
      case OptionAction::version:
        out_.show_version = true;
        break;
      case OptionAction::help:
        out_.show_help = true;
        break;
      case OptionAction::report:
        out_.report = values[0];
        break;
      case OptionAction::stats:
        out_.stats = true;
        break;
      case OptionAction::accounting:
        out_.check_accounting = true;
        break;
      case OptionAction::strict:
        out_.strict = out_.check_accounting = true;
        set_rank_option(rule.variable, "1");
        break;
      case OptionAction::rank_flag:
        set_rank_option(rule.variable, "1");
        break;
      default:
        record_ignored(option);
        break;
    }
    return {};
  }

  // Applies -s once the number of ranks is known: all, none, or ranks and ranges of them ("0,2-4").
  Status take_input_ranks(std::uint32_t size) {
    if (input_option_.empty()) return {};
    out_.input_ranks.clear();
    if (input_ == "none") return {};
    std::vector<bool> takes(size, input_ == "all");
    for (const std::string& part : input_ == "all" ? Tokens() : split(input_, ',')) {
      const Tokens ends = split_once(part, '-');
      std::uint32_t first = 0;
      std::uint32_t last = 0;
      const bool range = part.find('-') != std::string::npos;
      if (!sim::parse_number(std::string_view(range ? ends[0] : part), first) ||
          !sim::parse_number(std::string_view(range ? ends[1] : part), last) || first > last || last >= size) {
        return Status::error("option " + input_option_ + ": \"" + part + "\" is neither all, none, a rank from 0 to " +
                             std::to_string(size - 1) + " nor a range of them");
      }
      for (std::uint32_t rank = first; rank <= last; ++rank) takes[rank] = true;
    }
    // The ranks of a process have one standard input.
    for (std::uint32_t first = 0; first < size; first += out_.threads) {
      const auto begin = takes.begin() + first;
      if (std::find(begin, begin + out_.threads, true) != begin + out_.threads) out_.input_ranks.push_back(first);
    }
    return {};
  }

  // All counts of the command line are at least 1.
  static Status number(const std::string& option, const std::string& text, std::uint32_t most, std::uint32_t& out) {
    std::uint32_t value = 0;
    if (sim::parse_number(std::string_view(text), value) && value >= 1 && value <= most) {
      out = value;
      return {};
    }
    return Status::error("option " + option + ": \"" + text + "\" is not a number from 1 to " + std::to_string(most));
  }

  // A name with "=" would set another variable.
  static Status assign(const std::string& option, const std::string& name, const std::string& value, Assignments& to) {
    if (name.empty() || name.find('=') != std::string::npos) {
      return Status::error("option " + option + ": \"" + name + "\" is not a variable's name");
    }
    to.emplace_back(name, value);
    return {};
  }

  // Sets a variable of the ranks. A later option replaces an earlier one or, with `adds`, is appended: --protocol
  // long=puma --protocol short_limit=512.
  void set_rank_option(std::string_view variable, const std::string& value, bool adds = false) {
    for (auto& [name, text] : out_.rank_options) {
      if (name != variable) continue;
      text = adds ? text + "," + value : value;
      return;
    }
    out_.rank_options.emplace_back(variable, value);
  }

  // Sets algorithms of collectives. The registry checks the names, so a new algorithm needs no change here.
  Status collective(const OptionRule& rule, const std::string& option, const std::string& list) {
    collectives::RequestedAlgorithms asked;
    if (const Status parsed = collectives::parse_requested_algorithms(list, asked); !parsed.ok()) {
      return Status::error("option " + parsed.sentence());
    }
    if (list.empty()) return Status::error("option " + option + ": its value is empty; name OPERATION=ALGORITHM");
    set_rank_option(rule.variable, list, true);
    return {};
  }

  // Sets NAME=VALUE,... after a check of each name and value against the rule.
  Status pairs(const OptionRule& rule, const std::string& option, const std::string& list) {
    for (const std::string& pair : split(list, ',')) {
      if (!takes_pair(rule, pair)) {
        const std::string known(rule.choices.empty() ? "NAME=VALUE" : rule.choices);
        return Status::error("option " + option + ": invalid value \"" + pair + "\"; use " + known);
      }
      const Tokens name_and_value = split_once(pair, '=');
      if (name_and_value[0] == kShortLimit) short_limits_.push_back({option, name_and_value[1]});
    }
    set_rank_option(rule.variable, list, true);
    return {};
  }

  // A rule without choices accepts any name with a value.
  static bool takes_pair(const OptionRule& rule, const std::string& pair) {
    const std::size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0) return false;
    const std::string value = pair.substr(equals + 1);
    for (const std::string& known : split(rule.choices, ',')) {
      if (known.empty()) return !value.empty();
      const Tokens name_and_values = split_once(known, '=');
      if (name_and_values[0] != pair.substr(0, equals)) continue;
      std::uint64_t size = 0;
      if (name_and_values[1] == "SIZE") return sim::parse_bytes(value, size);
      const Tokens values = split(name_and_values[1], '|');
      return std::ranges::find(values, value) != values.end();
    }
    return false;
  }
  // An empty value, as from a script's unset variable, is an error: it does not mean "without this option".
  Status rank_option(const OptionRule& rule, const std::string& option, const std::string& value) {
    if (value.empty())
      return Status::error("option " + option + ": its value is empty; name " + std::string(rule.choices));
    set_rank_option(rule.variable, value);
    return {};
  }

  // Sets a duration as a plain number of seconds, since the ranks do not parse units.
  Status seconds(const OptionRule& rule, const std::string& option, const std::string& value) {
    double parsed = 0;
    if (Status status = parse_timeout(option, value, parsed); !status.ok()) return status;
    set_rank_option(rule.variable, fmt::format("{}", parsed));
    return {};
  }

  static Status check_choice(const OptionRule& rule, const std::string& option, const std::string& value) {
    const Tokens allowed = split(rule.choices, '|');
    if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return {};
    return Status::error("option " + option + ": invalid value \"" + value + "\"; use " + std::string(rule.choices));
  }

  Status choice(const OptionRule& rule, const std::string& option, const std::string& value) {
    if (Status status = check_choice(rule, option, value); !status.ok()) return status;
    if (rule.action == OptionAction::deadlock) {
      out_.abort_deadlock = value == "abort";
    } else {
      set_rank_option(rule.variable, value);
    }
    return {};
  }

  // Sets the capacity of each rank's trace, in events.
  Status trace_events(const OptionRule& rule, const std::string& option, const std::string& value) {
    std::uint64_t events = 0;
    if (!sim::parse_bytes(value, events) || events == 0 || events > sim::kMaxTraceEvents) {
      return Status::error(fmt::format("option {}: \"{}\" is not a number of events from 1 to {}; 64k is 65,536",
                                       option, value, sim::kMaxTraceEvents));
    }
    set_rank_option(rule.variable, std::to_string(events));
    return {};
  }

  Status heap(const OptionRule& rule, const std::string& option, const std::string& value) {
    if (!sim::parse_bytes(value, heap_bytes_)) {
      return Status::error("option " + option + ": \"" + value +
                           "\" is not a size; write bytes, or a number with k, m or g");
    }
    if (heap_bytes_ < sim::kHeapBytesMin) {
      return Status::error(fmt::format("option {}: {} bytes cannot hold a message; the minimum is {} ({}k)", option,
                                       heap_bytes_, sim::kHeapBytesMin, sim::kHeapBytesMin / 1024));
    }
    set_rank_option(rule.variable, std::to_string(heap_bytes_));
    heap_is_named_ = true;
    return {};
  }

  // Checks short limits after the whole line has been parsed, because --heap may follow them. If only a variable sets
  // the heap's size, the ranks alone check the limits.
  Status check_short_limits() const {
    const auto names_heap = [](const Assignments& set) {
      return std::any_of(set.begin(), set.end(), [](const auto& one) { return one.first == kHeapVariable; });
    };
    if (!heap_is_named_ && (std::getenv(kHeapVariable) != nullptr || names_heap(out_.environment))) return {};
    for (const ShortLimit& limit : short_limits_) {
      std::uint64_t bytes = 0;
      if (sim::parse_bytes(limit.value, bytes) && bytes >= 1 && bytes <= sim::short_limit_max(heap_bytes_)) continue;
      return Status::error(fmt::format("option {}: {}={} is not from 1 to a quarter of the heap of {} bytes (--heap)",
                                       limit.option, kShortLimit, limit.value, heap_bytes_));
    }
    return {};
  }

  // Rejects --trace-events, --trace-last and --trace-walks without --trace. If only the launcher's environment sets one
  // of their variables, the result is a warning, because that variable may be set for all runs.
  Status check_trace_options() {
    const auto names = [](const Assignments& set, std::string_view variable) {
      return std::any_of(set.begin(), set.end(), [&](const auto& one) { return one.first == variable; });
    };
    const std::string folder(find_option_rule("trace")->variable);
    bool records =
        std::getenv(folder.c_str()) != nullptr || names(out_.rank_options, folder) || names(out_.environment, folder);
    for (const ProgramSpec& program : out_.programs) records = records || names(program.environment, folder);
    for (const std::string_view option : {"trace-events", "trace-last", "trace-walks"}) {
      if (records) break;
      const std::string variable(find_option_rule(option)->variable);
      if (!names(out_.rank_options, variable)) {
        if (std::getenv(variable.c_str()) != nullptr) {
          out_.warnings.push_back(variable + " has no effect without --trace DIR");
        }
        continue;
      }
      return Status::error(fmt::format("option --{} has no effect without --trace DIR", option));
    }
    return {};
  }

  // Checks a binding target with a number, or with a suffix after ":" ("core:2", "gpu0").
  static Status check_binding_target(const OptionRule& rule, const std::string& option, const std::string& value) {
    std::string kind = value.substr(0, value.find(':'));
    std::transform(kind.begin(), kind.end(), kind.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::string without_number = kind.substr(0, kind.find_last_not_of("0123456789") + 1);
    const Tokens known = split(rule.choices, '|');
    if (std::find(known.begin(), known.end(), without_number) != known.end()) return {};
    return Status::error("option " + option + ": invalid value \"" + value + "\"; use " + std::string(rule.choices));
  }

  // core, hwthread, user and rr bind each rank to a processor. Other targets are accepted, so that scripts run,
  // but bind nothing.
  Status bind_to(const OptionRule& rule, const std::string& option, const std::string& value) {
    if (Status status = check_binding_target(rule, option, value); !status.ok()) return status;
    const std::string kind = value.substr(0, value.find(':'));
    if (kind == "none") {
      out_.bind_to = BindTo::none;
    } else if (kind == "core" || kind == "hwthread" || kind == "user" || kind == "rr") {
      out_.bind_to = BindTo::core;
    } else {
      out_.notes.push_back("option " + option + " " + value +
                           " is accepted and binds nothing (core and none are known)");
    }
    return {};
  }

  Status map_ranks(const OptionRule& rule, const std::string& option, const std::string& value) {
    if (Status status = check_binding_target(rule, option, value); !status.ok()) return status;
    record_ignored(option);
    return {};
  }

  // Options that need several nodes are not errors, since scripts set them for all machines.
  void warn_of_one_node() {
    const auto is_way = [](const auto& one) { return one.first == "MARGAY_WAY"; };
    const bool uses_sockets = std::any_of(out_.rank_options.begin(), out_.rank_options.end(), is_way);
    if (out_.processes_per_node > 0) out_.notes.push_back("-ppn has an effect only with --nodes: there is one host");
    for (const std::string_view option : {"iface", "wire-tcp", "forward"}) {
      if (uses_sockets) break;
      const std::string_view variable = find_option_rule(option)->variable;
      if (std::any_of(out_.rank_options.begin(), out_.rank_options.end(),
                      [&](const auto& one) { return one.first == variable; })) {
        out_.notes.push_back(
            option == "forward"
                ? "--forward has an effect only with --nodes: ranks of one node use no sockets"
                : fmt::format("--{} has an effect only with --nodes, and on connections with other jobs", option));
      }
    }
  }

  void record_ignored(const std::string& option) {
    out_.notes.push_back("option " + option + " is accepted and changes nothing on one host");
  }

  // Checks the letters here, because a wrong pattern would show only when files are created.
  static Status pattern(const std::string& option, const std::string& value, std::string& out) {
    for (std::size_t at = value.find('%'); at != std::string::npos; at = value.find('%', at + 2)) {
      if (at + 1 < value.size() && kPatternLetters.find(value[at + 1]) != std::string_view::npos) continue;
      return Status::error("option " + option + ": invalid letter \"" + value.substr(at, 2) +
                           "\"; use %r (rank), %h (host), %g (process group), %p (proxy), %t (seconds) or %% (a %)");
    }
    out = value;
    return {};
  }

  Status mpi(const std::string& option, const std::string& value) {
    if (value != "system" && value != "margay" && value != "racy") {
      return Status::error("option " + option + ": invalid value \"" + value + "\"; use margay, system or racy");
    }
    out_.system_mpi = value == "system";
    out_.racy_mpi = value == "racy";
    return {};
  }

  Status over(const std::string& option, const std::string& value) {
    if (value != "nexus" && value != "portals")
      return Status::error("option " + option + ": invalid value \"" + value + "\"; use portals or nexus");
    out_.over_nexus = value == "nexus";
    return {};
  }

  // Only this host is possible, so the list has no effect beyond the check.
  Status take_hosts(const Tokens& hosts) {
    for (const std::string& host : hosts) {
      if (Status status = check_host(host); !status.ok()) return status;
      out_.hosts.push_back(host);
    }
    return {};
  }

  Status read_host_file(const std::string& path) {
    Tokens hosts;
    if (Status status = read_hosts(path, hosts); !status.ok()) return status;
    return take_hosts(hosts);
  }

  // A configuration file cannot name another: took_config_file_ is set before its tokens are parsed.
  Status read_config_file(const std::string& path) {
    if (took_config_file_) return Status::error("only one -configfile can be read");
    took_config_file_ = true;
    Tokens tokens;
    if (Status status = read_config_tokens(path, tokens); !status.ok()) return status;
    // The file's parts must not change the part of the line that names the file.
    const ProgramSpec outer = part_;
    std::size_t at = 0;
    while (at < tokens.size()) {
      if (Status status = parse_part(tokens, at); !status.ok()) {
        return Status::error(path + ": " + status.sentence());
      }
    }
    part_ = outer;
    return {};
  }

  // Checks that need the whole line, in the order in which a user would correct the mistakes.
  Status check_whole() {
    if (Status status = check_short_limits(); !status.ok()) return status;
    if (Status status = check_trace_options(); !status.ok()) return status;
    std::uint64_t processes = 0;
    for (const ProgramSpec& program : out_.programs) processes += program.ranks;
    const std::uint64_t ranks = processes * out_.threads;
    if (ranks > sim::kRanksMax) {
      return Status::error(std::to_string(ranks) + " ranks are asked for; at most " + std::to_string(sim::kRanksMax) +
                           " can run");
    }
    if (!out_.programs.empty() && out_.nodes > processes) {
      return Status::error("--nodes " + std::to_string(out_.nodes) + " is more than the " + std::to_string(processes) +
                           (out_.threads > 1 ? " processes, whose ranks are on one node" : " ranks"));
    }
    if (out_.threads > 1 && out_.system_mpi) {
      return Status::error(
          "option --threads: --mpi system runs a library whose ranks are processes; leave one of both out");
    }
    if (out_.over_nexus && (out_.system_mpi || out_.racy_mpi))
      return Status::error("option --over: Nexus needs margay's MPI library; leave --mpi out");
    for (ProgramSpec& program : out_.programs) program.ranks *= out_.threads;
    if (ranks > 0) {
      if (Status status = take_input_ranks(static_cast<std::uint32_t>(ranks)); !status.ok()) return status;
    }
    if (out_.nodes == 1) warn_of_one_node();
    return {};
  }

  RunOptions& out_;
  ProgramSpec part_;
  bool took_config_file_ = false;
  // The option as it was written; empty: it was not given.
  std::string input_option_;
  std::string input_;
  // The latest option and its last value; empty: it has none, or the value is part of the token.
  std::string last_option_;
  std::string last_value_;
  std::uint64_t heap_bytes_ = sim::kHeapBytes;
  bool heap_is_named_ = false;
  std::vector<ShortLimit> short_limits_;
};

}  // namespace

Status parse_run_options(const Tokens& tokens, RunOptions& out) {
  out = RunOptions();
  return Parser(out).parse(tokens);
}

}  // namespace margay::command
