// The command line of `margay run` (and of `mpiexec` and `mpirun`, which are the same program): Hydra's spellings, Open
// MPI's where they do not clash, with one dash or two. Pure: words in, a description of the job out. What follows a
// program's name is the program's own up to the next ":" and is never looked at.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

using portals::Status;

using Assignments = std::vector<std::pair<std::string, std::string>>;

// One "prog args" part of the line.
struct ProgramSpec {
  std::uint32_t ranks = 1;
  std::vector<std::string> argv;
  Assignments environment;        // -env, later than the global ones
  std::string working_directory;  // empty: the launcher's
};

// Which of the launcher's variables the ranks inherit.
struct InheritedEnvironment {
  bool none = false;    // -genvnone
  bool listed = false;  // -genvlist: those in `names` only
  std::vector<std::string> names;
};

enum class BindTo : std::uint8_t { kNone, kCore };

struct RunOptions {
  std::vector<ProgramSpec> programs;
  Assignments environment;   // -genv, for all programs
  Assignments rank_options;  // MARGAY_* variables that margay's own options become
  InheritedEnvironment inherited;
  std::string working_directory;
  std::uint32_t nodes = 1;           // emulated nodes
  std::uint32_t ranks_per_node = 0;  // 0: spread evenly in blocks
  double timeout_seconds = 0;        // 0: none
  bool print_exit_codes = false;
  bool verbose = false;
  bool stats = false;
  bool check_accounting = false;
  bool strict = false;  // what the checks find is an error
  bool abort_deadlock = false;
  bool system_mpi = false;  // leave LD_LIBRARY_PATH alone
  bool racy_mpi = false;    // the library of lab 11, which loses messages
  bool show_version = false;
  bool show_help = false;
  std::string report;  // --report: findings as JSON; empty: not asked for
  BindTo bind_to = BindTo::kNone;
  std::vector<std::uint32_t> input_ranks{0};  // that get the standard input
  std::string line_pattern;                   // before each line; pattern.hpp
  std::string output_pattern;
  std::string error_pattern;
  std::vector<std::string> warnings;  // printed always
  std::vector<std::string> notes;     // options that were accepted and change nothing; printed with -v
  std::vector<std::string> hosts;     // as given; all of them have been found to be this host
};

// `words` is the line without the program's name. Error: one sentence naming the word, with a near spelling where there
// is one.
[[nodiscard]] Status parse_run_options(const std::vector<std::string>& words, RunOptions& out);

// The text of `margay run --help`.
[[nodiscard]] std::string run_help();

}  // namespace margay::command
