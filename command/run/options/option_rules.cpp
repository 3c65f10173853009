#include "command/run/options/option_rules.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

#include "sim/boot/parse.hpp"

namespace margay::command {
namespace {

using portals::Status;

// Kinds of places and orders of Hydra and Open MPI, accepted so that scripts for these launchers run.
constexpr std::string_view kPlaces =
    "none|rr|user|machine|node|board|numa|numanode|socket|package|core|hwthread|l1cache|l1dcache|l1icache|l1ucache|"
    "l2cache|"
    "l2dcache|l2icache|l2ucache|l3cache|l3dcache|l3icache|l3ucache|l4cache|l4dcache|l4ucache|l5cache|l5dcache|l5ucache|"
    "pci|gpu|ib|en|eth|hfi|slot|span|fill|seq|sequential|dist|distance|ppr|rankfile|cpu-list";

// Spellings of one option have the same action and values.
constexpr OptionRule kRules[] = {
    {"n", 1, OptionAction::kRanks},
    {"np", 1, OptionAction::kRanks},
    {"c", 1, OptionAction::kRanks},
    {"nodes", 1, OptionAction::kNodes},
    {"ppn", 1, OptionAction::kRanksPerNode},
    {"perhost", 1, OptionAction::kRanksPerNode},
    {"npernode", 1, OptionAction::kRanksPerNode},
    {"l", 0, OptionAction::kLabel},
    {"prepend-rank", 0, OptionAction::kLabel},
    {"tag-output", 0, OptionAction::kLabel},
    {"label", 0, OptionAction::kLabel},
    {"timeout", 1, OptionAction::kTimeout},
    {"genv", 2, OptionAction::kGlobalEnv},
    {"genvlist", 1, OptionAction::kGlobalEnvList},
    {"genvnone", 0, OptionAction::kGlobalEnvNone},
    {"genvall", 0, OptionAction::kIgnored},
    {"env", 2, OptionAction::kLocalEnv},
    {"envall", 0, OptionAction::kIgnored},
    {"x", 1, OptionAction::kExportEnv},
    {"wdir", 1, OptionAction::kWorkingDirectory},
    {"wd", 1, OptionAction::kWorkingDirectory},
    {"configfile", 1, OptionAction::kConfigFile},
    {"host", 1, OptionAction::kHosts},
    {"hosts", 1, OptionAction::kHosts},
    {"H", 1, OptionAction::kHosts},
    {"f", 1, OptionAction::kHostFile},
    {"hostfile", 1, OptionAction::kHostFile},
    {"machinefile", 1, OptionAction::kHostFile},
    {"outfile-pattern", 1, OptionAction::kOutputPattern},
    {"errfile-pattern", 1, OptionAction::kErrorPattern},
    {"s", 1, OptionAction::kInput},
    {"prepend-pattern", 1, OptionAction::kLinePattern},
    {"bind-to", 1, OptionAction::kBindTo, "", kPlaces},
    {"map-by", 1, OptionAction::kPlace, "", kPlaces},
    {"rank-by", 1, OptionAction::kPlace, "", kPlaces},
    {"iface", 1, OptionAction::kRankOption, "MARGAY_IFACE", "an interface, an address or a network"},
    {"launcher", 1, OptionAction::kIgnored},
    {"rmk", 1, OptionAction::kIgnored},
    {"oversubscribe", 0, OptionAction::kIgnored},
    {"use-hwthread-cpus", 0, OptionAction::kIgnored},
    {"allow-run-as-root", 0, OptionAction::kIgnored},
    {"print-all-exitcodes", 0, OptionAction::kExitCodes},
    {"info", 0, OptionAction::kVersion},
    {"version", 0, OptionAction::kVersion},
    {"v", 0, OptionAction::kVerbose},
    {"verbose", 0, OptionAction::kVerbose},
    {"h", 0, OptionAction::kHelp},
    {"help", 0, OptionAction::kHelp},
    {"stats", 0, OptionAction::kStats},
    {"report", 1, OptionAction::kReport},
    {"check-accounting", 0, OptionAction::kAccounting},
    {"strict", 0, OptionAction::kStrict, "MARGAY_STRICT"},
    {"deadlock", 1, OptionAction::kDeadlock, "", "report|abort"},
    {"mpi", 1, OptionAction::kMpi},
    {"protocol", 1, OptionAction::kPairs, "MARGAY_PROTOCOL", "long=puma|rendezvous,short_limit=SIZE"},
    {"method", 1, OptionAction::kPairs, "MARGAY_METHOD", "long=ring|cma|auto"},
    {"collective", 1, OptionAction::kCollective, "MARGAY_COLLECTIVE"},
    {"rma", 1, OptionAction::kPairs, "MARGAY_RMA", "strided=combined|paper"},
    {"rates", 1, OptionAction::kRankOption, "MARGAY_RATES",
     "usual, paragon, a file with a \"/\" in its name, or the rates"},
    {"trace", 1, OptionAction::kRankOption, "MARGAY_TRACE", "a folder, a new one for each run"},
    {"trace-events", 1, OptionAction::kTraceEvents, "MARGAY_TRACE_EVENTS"},
    {"trace-last", 1, OptionAction::kSeconds, "MARGAY_TRACE_LAST_SECONDS"},
    {"stall", 1, OptionAction::kSeconds, "MARGAY_STALL_SECONDS"},
    {"trace-walks", 0, OptionAction::kRankFlag, "MARGAY_TRACE_WALKS"},
    {"leaks", 0, OptionAction::kRankFlag, "MARGAY_LEAKS"},
    {"check-types", 0, OptionAction::kRankFlag, "MARGAY_CHECK_TYPES"},
    {"check-rma", 0, OptionAction::kRankFlag, "MARGAY_CHECK_RMA"},
    {"short-limit", 1, OptionAction::kShortLimit, "MARGAY_PROTOCOL"},
    {"wire-tcp", 1, OptionAction::kChoice, "MARGAY_WIRE_TCP", "uring|epoll|auto"},
    {"wait", 1, OptionAction::kChoice, "MARGAY_WAIT", "spin|yield|auto"},
    {"initial-errhandler", 1, OptionAction::kChoice, "MARGAY_INITIAL_ERRHANDLER",
     "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return"},
    {"heap", 1, OptionAction::kHeap, "MARGAY_HEAP_BYTES"},
};

// As the documents write it: one dash for a letter, two for a word.
std::string spelling(const OptionRule& rule) {
  return (rule.name.size() == 1 ? "`-" : "`--") + std::string(rule.name) + "`";
}

// Actions that rules with different variables or values share, so that equal actions are not equal options.
bool is_shared(OptionAction action) {
  constexpr OptionAction kShared[] = {OptionAction::kRankOption, OptionAction::kRankFlag, OptionAction::kPairs,
                                      OptionAction::kSeconds,    OptionAction::kChoice,   OptionAction::kPlace};
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
  std::vector<OptionAction> seen = {OptionAction::kIgnored};
  for (const OptionRule& rule : kRules) {
    if (is_shared(rule.action) || std::ranges::find(seen, rule.action) != seen.end()) continue;
    seen.push_back(rule.action);
    const std::string spellings = spellings_of(rule.action);
    if (spellings.find(',') != std::string::npos) text += "- " + spellings + "\n";
  }
  text += "\nAccepted without effect: " + spellings_of(OptionAction::kIgnored) + ".\n";
  text +=
      "\nThe ranks read these options from environment variables, so they also work under another launcher:\n\n"
      "| option | variable | values |\n|---|---|---|\n";
  for (const OptionRule& rule : kRules) {
    if (rule.variable.empty()) continue;
    const bool in_words = rule.action == OptionAction::kRankOption;
    text += "| " + spelling(rule) + " | `" + std::string(rule.variable) + "` | " +
            (in_words ? std::string(rule.choices) : code_cell(rule.choices)) + " |\n";
  }
  return text;
}

// A linear search over some 70 rules: a command line has few options.
const OptionRule* find_option_rule(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const OptionRule& rule) { return rule.name == name; });
  return it == std::end(kRules) ? nullptr : it;
}

// The nearest name may be a single letter, which takes one dash.
Status unknown_option(const std::string& word, std::string_view name) {
  std::vector<std::string_view> names;
  for (const OptionRule& rule : kRules) names.push_back(rule.name);
  const std::string_view near = sim::nearest_spelling(name, names);
  std::string sentence = "unknown option " + word;
  if (!near.empty())
    sentence += "; did you mean " + std::string(near.size() == 1 ? "-" : "--") + std::string(near) + "?";
  return Status::error(sentence + " (`margay run --help` lists them)");
}

}  // namespace margay::command
