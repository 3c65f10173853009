// The table of `margay run`'s options: name, number of values, action. Names are without dashes. docs/options.md is
// generated from it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "portals/base/status.hpp"

namespace margay::command {

// The effect of an option. Several spellings share an action.
enum class OptionAction : std::uint8_t {
  // Number of ranks (with `threads`: of processes), of ranks in each process, of emulated nodes, of ranks on each node.
  ranks,
  threads,
  nodes,
  ranks_per_node,
  // Number of places of the job, with those of the ranks.
  places,
  // Prefix each line with its rank.
  label,
  timeout,
  // Environment variables for all programs: set one; inherit only those of a list; inherit none.
  global_env,
  global_env_list,
  global_env_none,
  // local_env sets a variable for this program. export_env is Open MPI's -x: NAME=VALUE sets a variable for all
  // programs, and a name alone has no effect.
  local_env,
  export_env,
  working_directory,
  // A configuration file, a list of host names, a file of host names. Each host must be this one.
  config_file,
  hosts,
  host_file,
  // Patterns of output files and line prefixes.
  output_pattern,
  error_pattern,
  line_pattern,
  // Ranks that get the standard input.
  input,
  // Binding to processors, one for each rank.
  bind_to,
  // Flags of the launcher.
  exit_codes,
  verbose,
  version,
  help,
  stats,
  // The file for findings; the check of the accounting law at the end.
  report,
  accounting,
  // End the job at a proven deadlock, or only report it.
  deadlock,
  // All checks, with findings as errors.
  strict,
  // The MPI library of the ranks; the library that carries MPI's messages.
  mpi,
  over,
  // Passed to the ranks: any text, a flag, NAME=VALUE pairs.
  rank_option,
  rank_flag,
  pairs,
  // Algorithms by operation, as in collectives/select.
  collective,
  // A duration, passed to the ranks in seconds.
  seconds,
  // The same as --protocol short_limit=SIZE.
  short_limit,
  // One of a list of values.
  choice,
  // Bytes of the heap of unexpected messages; events of a trace.
  heap,
  trace_events,
  // Placement of ranks (--map-by, --rank-by of Hydra and Open MPI): the value is checked, then ignored.
  map_ranks,
  // Accepted without effect; noted with -v.
  ignored
};

// One spelling of an option.
struct OptionRule {
  std::string_view name;
  // Number of tokens after the option.
  int values;
  OptionAction action;
  // The MARGAY_ variable that passes the value to the ranks; empty: the launcher alone uses it.
  std::string_view variable = "";
  // The allowed values, by action. choice, deadlock, bind_to and place: "a|b". pairs: the values of each name,
  // "a=x|y,b=SIZE"; empty: any NAME=VALUE. rank_option: a phrase that names the value.
  std::string_view choices = "";
};

// The rule of a name; nullptr: there is none.
[[nodiscard]] const OptionRule* find_option_rule(std::string_view name);
// The tables of docs/options.md about these rules, in Markdown: spellings, variables, options without effect.
[[nodiscard]] std::string describe_option_rules();
// The error for an unknown option, with a similar spelling if there is one. `name`: the token without dashes and value.
[[nodiscard]] portals::Status unknown_option(const std::string& option, std::string_view name);

}  // namespace margay::command
