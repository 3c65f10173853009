// The table of `margay run`'s options: name, number of values, action. Names are without dashes. docs/options.md is
// generated from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"

namespace margay::command {

// What an option does with its values. Several spellings share an action.
enum class OptionAction : std::uint8_t {
  // Number of ranks; of emulated nodes; of ranks on each of these.
  kRanks,
  kNodes,
  kRanksPerNode,
  // Prefix each line with its rank.
  kLabel,
  kTimeout,
  // Variables of all programs: set one, inherit a list only, inherit none; then one of this program, and an exported
  // one.
  kGlobalEnv,
  kGlobalEnvList,
  kGlobalEnvNone,
  kLocalEnv,
  kExportEnv,
  kWorkingDirectory,
  // A configuration file; names of hosts, which must be this host.
  kConfigFile,
  kHosts,
  kHostFile,
  // Patterns of output files and line prefixes.
  kOutputPattern,
  kErrorPattern,
  kLinePattern,
  // Ranks that get the standard input.
  kInput,
  // Binding to processors, one for each rank.
  kBindTo,
  // Flags of the launcher.
  kExitCodes,
  kVerbose,
  kVersion,
  kHelp,
  kStats,
  // The file for findings; then the accounts at the end.
  kReport,
  kAccounting,
  // End the job at a proven deadlock, or only report it.
  kDeadlock,
  // All checks, with findings as errors.
  kStrict,
  // The MPI library of the ranks.
  kMpi,
  // Passed to the ranks: any text, a flag, NAME=VALUE pairs.
  kRankOption,
  kRankFlag,
  kPairs,
  // Algorithms by operation, as in collectives/select.
  kCollective,
  // A duration, passed to the ranks in seconds.
  kSeconds,
  // The short limit, as a pair of --protocol.
  kShortLimit,
  // One of a list of values.
  kChoice,
  // Bytes of the heap of unexpected messages; events of a trace.
  kHeap,
  kTraceEvents,
  // A place of Hydra or Open MPI: checked, then ignored.
  kPlace,
  // Accepted without effect; noted with -v.
  kIgnored
};

// One spelling of an option.
struct OptionRule {
  std::string_view name;
  // Number of tokens after the option.
  int values;
  OptionAction action;
  // The MARGAY_ variable that passes the value to the ranks; empty: the launcher alone uses it.
  std::string_view variable = "";
  // Allowed values. kChoice: "a|b"; kPairs: the values of each name, "a=x|y,b=SIZE", or empty for any NAME=VALUE;
  // kRankOption: a phrase that names the value; kBindTo, kPlace: "a|b".
  std::string_view choices = "";
};

// The rule of a name; nullptr: there is none.
[[nodiscard]] const OptionRule* find_option_rule(std::string_view name);
// The tables of docs/options.md about these rules, in Markdown: spellings, variables, options without effect.
[[nodiscard]] std::string describe_option_rules();
// The error for an unknown option, with a similar spelling if there is one. `name`: the token without dashes and value.
[[nodiscard]] portals::Status unknown_option(const std::string& word, std::string_view name);

}  // namespace margay::command
