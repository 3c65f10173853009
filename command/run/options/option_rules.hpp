// The options of `margay run`, as a table: name, number of values, what they do. Names are without dashes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"

namespace margay::command {

// What an option does with its values.
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
  kCollective,  // algorithms by operation, as collectives/select knows them
  kSeconds,
  kShortLimit,
  kChoice,
  kHeap,
  kTraceEvents,
  kPlace,
  kIgnored
};

struct OptionRule {
  std::string_view name;
  int values;
  OptionAction action;
  std::string_view variable = "";  // the MARGAY_ variable that the ranks read
  // kChoice: "a|b"; kPairs: what each name takes, "a=x|y,b=SIZE", or nothing for any NAME=VALUE;
  // kRankOption: in words, what is named; kBindTo, kPlace: "a|b".
  std::string_view choices = "";
};

// The rule of a name; null when there is none.
[[nodiscard]] const OptionRule* find_option_rule(std::string_view name);
// The tables of docs/options.md about these rules: spellings, variables, options without effect.
[[nodiscard]] std::string describe_option_rules();
// The complaint about a word whose name, without dashes and value, no rule has; with a near spelling where there is
// one.
[[nodiscard]] portals::Status unknown_option(const std::string& word, std::string_view name);

}  // namespace margay::command
