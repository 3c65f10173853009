#include "command/run/options/option_rules.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "sim/boot/parse.hpp"

namespace margay::command {
namespace {

using portals::Status;

// Kinds of places and orders of Hydra and Open MPI, accepted so that scripts for these launchers run.
constexpr std::string_view kBindingTargets =
    "none|rr|user|machine|node|board|numa|numanode|socket|package|core|hwthread|l1cache|l1dcache|l1icache|l1ucache|"
    "l2cache|"
    "l2dcache|l2icache|l2ucache|l3cache|l3dcache|l3icache|l3ucache|l4cache|l4dcache|l4ucache|l5cache|l5dcache|l5ucache|"
    "pci|gpu|ib|en|eth|hfi|slot|span|fill|seq|sequential|dist|distance|ppr|rankfile|cpu-list";

// Spellings of one option have the same action and values.
constexpr OptionRule kRules[] = {
    {"n", 1, OptionAction::ranks},
    {"np", 1, OptionAction::ranks},
    {"c", 1, OptionAction::ranks},
    {"threads", 1, OptionAction::threads},
    {"nodes", 1, OptionAction::nodes},
    {"places", 1, OptionAction::places},
    {"ppn", 1, OptionAction::ranks_per_node},
    {"perhost", 1, OptionAction::ranks_per_node},
    {"npernode", 1, OptionAction::ranks_per_node},
    {"l", 0, OptionAction::label},
    {"prepend-rank", 0, OptionAction::label},
    {"tag-output", 0, OptionAction::label},
    {"label", 0, OptionAction::label},
    {"timeout", 1, OptionAction::timeout},
    {"genv", 2, OptionAction::global_env},
    {"genvlist", 1, OptionAction::global_env_list},
    {"genvnone", 0, OptionAction::global_env_none},
    {"genvall", 0, OptionAction::ignored},
    {"env", 2, OptionAction::local_env},
    {"envall", 0, OptionAction::ignored},
    {"x", 1, OptionAction::export_env},
    {"wdir", 1, OptionAction::working_directory},
    {"wd", 1, OptionAction::working_directory},
    {"configfile", 1, OptionAction::config_file},
    {"host", 1, OptionAction::hosts},
    {"hosts", 1, OptionAction::hosts},
    {"H", 1, OptionAction::hosts},
    {"f", 1, OptionAction::host_file},
    {"hostfile", 1, OptionAction::host_file},
    {"machinefile", 1, OptionAction::host_file},
    {"outfile-pattern", 1, OptionAction::output_pattern},
    {"errfile-pattern", 1, OptionAction::error_pattern},
    {"s", 1, OptionAction::input},
    {"prepend-pattern", 1, OptionAction::line_pattern},
    {"bind-to", 1, OptionAction::bind_to, "", kBindingTargets},
    {"map-by", 1, OptionAction::map_ranks, "", kBindingTargets},
    {"rank-by", 1, OptionAction::map_ranks, "", kBindingTargets},
    {"iface", 1, OptionAction::rank_option, "MARGAY_IFACE", "an interface, an address or a network"},
    {"launcher", 1, OptionAction::ignored},
    {"rmk", 1, OptionAction::ignored},
    {"oversubscribe", 0, OptionAction::ignored},
    {"use-hwthread-cpus", 0, OptionAction::ignored},
    {"allow-run-as-root", 0, OptionAction::ignored},
    {"print-all-exitcodes", 0, OptionAction::exit_codes},
    {"info", 0, OptionAction::version},
    {"version", 0, OptionAction::version},
    {"v", 0, OptionAction::verbose},
    {"verbose", 0, OptionAction::verbose},
    {"h", 0, OptionAction::help},
    {"help", 0, OptionAction::help},
    {"stats", 0, OptionAction::stats},
    {"report", 1, OptionAction::report},
    {"check-accounting", 0, OptionAction::accounting},
    {"strict", 0, OptionAction::strict, "MARGAY_STRICT"},
    {"deadlock", 1, OptionAction::deadlock, "", "report|abort"},
    {"mpi", 1, OptionAction::mpi},
    {"over", 1, OptionAction::over},
    {"protocol", 1, OptionAction::pairs, "MARGAY_PROTOCOL", "long=puma|rendezvous,short_limit=SIZE"},
    {"method", 1, OptionAction::pairs, "MARGAY_METHOD", "long=ring|cma|auto"},
    {"collective", 1, OptionAction::collective, "MARGAY_COLLECTIVE",
     "OPERATION=ALGORITHM, several with commas (`margay info --collectives`)"},
    {"rma", 1, OptionAction::pairs, "MARGAY_RMA", "strided=combined|paper"},
    {"rates", 1, OptionAction::rank_option, "MARGAY_RATES",
     "usual, paragon, a file with a \"/\" in its name, or the rates"},
    {"trace", 1, OptionAction::rank_option, "MARGAY_TRACE", "a folder, a new one for each run"},
    {"trace-events", 1, OptionAction::trace_events, "MARGAY_TRACE_EVENTS", "a number of events"},
    {"trace-last", 1, OptionAction::seconds, "MARGAY_TRACE_LAST_SECONDS", "a number of seconds"},
    {"stall", 1, OptionAction::seconds, "MARGAY_STALL_SECONDS", "a number of seconds"},
    {"trace-walks", 0, OptionAction::rank_flag, "MARGAY_TRACE_WALKS"},
    {"leaks", 0, OptionAction::rank_flag, "MARGAY_LEAKS"},
    {"check-types", 0, OptionAction::rank_flag, "MARGAY_CHECK_TYPES"},
    {"check-rma", 0, OptionAction::rank_flag, "MARGAY_CHECK_RMA"},
    {"short-limit", 1, OptionAction::short_limit, "MARGAY_PROTOCOL", "a number of bytes, such as 16K"},
    {"wire-tcp", 1, OptionAction::choice, "MARGAY_WIRE_TCP", "uring|epoll|auto"},
    {"way", 1, OptionAction::rank_option, "MARGAY_WAY", "wires in order of preference, e.g. shm,tcp"},
    {"forward", 1, OptionAction::choice, "MARGAY_FORWARD", "node"},
    {"skip-poll", 1, OptionAction::rank_option, "MARGAY_SKIP_POLL",
     "a wire and its number of rounds, adaptive, block or off, such as tcp=20; several with commas"},
    {"wait", 1, OptionAction::choice, "MARGAY_WAIT", "spin|yield|auto"},
    {"initial-errhandler", 1, OptionAction::choice, "MARGAY_INITIAL_ERRHANDLER",
     "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return"},
    {"heap", 1, OptionAction::heap, "MARGAY_HEAP_BYTES", "a number of bytes, such as 64M"},
};

// The spelling in the documents: one dash before a letter, two before a word.
std::string spelling(const OptionRule& rule) {
  return (rule.name.size() == 1 ? "`-" : "`--") + std::string(rule.name) + "`";
}

// Whether options with different variables or values share this action. Rules with such an action are different
// options, not spellings of one.
bool is_shared(OptionAction action) {
  constexpr OptionAction kShared[] = {OptionAction::rank_option, OptionAction::rank_flag, OptionAction::pairs,
                                      OptionAction::seconds,     OptionAction::choice,    OptionAction::map_ranks};
  return std::ranges::find(kShared, action) != std::end(kShared);
}

// All spellings with the action, in the table's order.
std::string spellings_of(OptionAction action) {
  std::string text;
  for (const OptionRule& rule : kRules) {
    if (rule.action == action) text += (text.empty() ? "" : ", ") + spelling(rule);
  }
  return text;
}

// A cell of a Markdown table as code, with bars escaped.
std::string code_cell(std::string_view text) {
  std::string cell;
  for (const char letter : text) cell += letter == '|' ? std::string("\\|") : std::string(1, letter);
  return cell.empty() ? "" : "`" + cell + "`";
}

}  // namespace

// Called by the test that keeps docs/options.md up to date.
std::string describe_option_rules() {
  std::string text =
      "Each line lists spellings of the same option: Hydra's, and Open MPI's where they do not conflict.\n\n";
  // Options without effect have a line of their own.
  std::vector<OptionAction> seen = {OptionAction::ignored};
  for (const OptionRule& rule : kRules) {
    if (is_shared(rule.action) || std::ranges::find(seen, rule.action) != seen.end()) continue;
    seen.push_back(rule.action);
    const std::string spellings = spellings_of(rule.action);
    if (spellings.find(',') != std::string::npos) text += "- " + spellings + "\n";
  }
  text += "\nAccepted without effect: " + spellings_of(OptionAction::ignored) + ".\n";
  text +=
      "\nThe ranks read these options from environment variables, so they also work under another launcher:\n\n"
      "| option | variable | values |\n|---|---|---|\n";
  for (const OptionRule& rule : kRules) {
    if (rule.variable.empty()) continue;
    const bool is_prose = rule.choices.find(' ') != std::string_view::npos;
    text += "| " + spelling(rule) + " | `" + std::string(rule.variable) + "` | " +
            (is_prose ? std::string(rule.choices) : code_cell(rule.choices)) + " |\n";
  }
  text +=
      "\nVariables without an option, which the launcher and the ranks read:\n\n"
      "| variable | value |\n|---|---|\n"
      "| `MARGAY_USER_FOLDER` | the absolute path of the user's folder, for names and the key of jobs that connect "
      "([dynamic.md](dynamic.md)) |\n"
      "| `MARGAY_KEY_FILE` | the absolute path of the file with this key; default: `key` in the user's folder |\n";
  return text;
}

// A linear search over some 70 rules: a command line has few options.
const OptionRule* find_option_rule(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const OptionRule& rule) { return rule.name == name; });
  return it == std::end(kRules) ? nullptr : it;
}

// The nearest name may be a single letter, which takes one dash.
Status unknown_option(const std::string& option, std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptionRule& rule : kRules) names.push_back(rule.name);
  const std::string_view near = sim::nearest_spelling(name, names);
  std::string sentence = "unknown option " + option;
  if (!near.empty())
    sentence += "; did you mean " + std::string(near.size() == 1 ? "-" : "--") + std::string(near) + "?";
  return Status::error(sentence + " (`margay run --help` lists them)");
}

}  // namespace margay::command
