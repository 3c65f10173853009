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
  kRanks,
  kNodes,
  kRanksPerNode,
  kLabel,
  kTimeout,
  kGlobalEnv,
  kGlobalEnvList,
  kGlobalEnvNone,
  kLocalEnv,
  kExportEnv,
  kWorkingDirectory,
  kConfigFile,
  kHosts,
  kHostFile,
  kOutputPattern,
  kErrorPattern,
  kLinePattern,
  kInput,
  kBindTo,
  kExitCodes,
  kVerbose,
  kVersion,
  kHelp,
  kStats,
  kReport,
  kAccounting,
  kDeadlock,
  kStrict,
  kMpi,
  kRankOption,
  kRankFlag,
  kPairs,
  // Algorithms by operation, as in collectives/select.
  kCollective,
  kSeconds,
  kShortLimit,
  kChoice,
  kHeap,
  kTraceEvents,
  kPlace,
  kIgnored
};

// One spelling of an option.
struct OptionRule {
  std::string_view name;
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
