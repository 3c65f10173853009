// The command line of `margay run` (and of `mpiexec` and `mpirun`, which are the same program), parsed into a
// description of the job.
// Hydra's spellings, and Open MPI's where they do not conflict, with one dash or two. Pure but for files that options
// name. Tokens after a program's name belong to the program up to the next ":" and are never interpreted.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "portals/base/status.hpp"

namespace margay::command {

using portals::Status;

// Variables with their values; later ones override.
using Assignments = std::vector<std::pair<std::string, std::string>>;

// One part of the command line: "[options] PROGRAM [arguments]".
struct ProgramSpec {
  // All ranks: with --threads those of all its processes.
  std::uint32_t ranks = 1;
  std::vector<std::string> argv;
  // -env; overrides the global variables.
  Assignments environment;
  // Empty: the launcher's.
  std::string working_directory;
  // A process of the job has started it (MPI_Comm_spawn).
  bool is_spawned = false;
};

// The launcher's variables that the ranks inherit; all by default.
struct InheritedEnvironment {
  // -genvnone.
  bool none = false;
  // -genvlist: only those in `names`.
  bool listed = false;
  std::vector<std::string> names;
};

// core: each rank is bound to one of the processors that the launcher may use, round robin.
enum class BindTo : std::uint8_t { none, core };

// The whole line. Defaults are those of the options.
struct RunOptions {
  std::vector<ProgramSpec> programs;
  // -genv, for all programs.
  Assignments environment;
  // MARGAY_* variables by which margay's own options reach the ranks.
  Assignments rank_options;
  InheritedEnvironment inherited;
  std::string working_directory;
  // Ranks in each process, as its threads.
  std::uint32_t threads = 1;
  // Emulated nodes; with 0 processes per node, processes are spread evenly in blocks. Without --threads a process is a
  // rank.
  std::uint32_t nodes = 1;
  // Places of the job, with those of the ranks; 0: usual_places().
  std::uint32_t places = 0;
  std::uint32_t processes_per_node = 0;
  // 0: none.
  double timeout_seconds = 0;
  // Print each rank's exit code at the job's end; print `notes`; print the table of statistics.
  bool print_exit_codes = false;
  bool verbose = false;
  bool stats = false;
  // Check for each pair of ranks that sent = delivered + dropped; a difference makes the job fail.
  bool check_accounting = false;
  // Findings of the checks make the job fail.
  bool strict = false;
  // End the job at a proven deadlock, which is otherwise only reported.
  bool abort_deadlock = false;
  // Leave LD_LIBRARY_PATH alone.
  bool system_mpi = false;
  // The library of lab 11, which loses messages.
  bool racy_mpi = false;
  // The ranks' point-to-point messages travel over links of Nexus, by a library that is loaded before the program.
  bool over_nexus = false;
  bool show_version = false;
  bool show_help = false;
  // --report: the JSON file for findings; empty: none.
  std::string report;
  BindTo bind_to = BindTo::none;
  // Ranks that get the standard input; with --threads, the first ranks of their processes.
  std::vector<std::uint32_t> input_ranks{0};
  // Prefix of each line, and names of files; patterns as in output_sink.hpp.
  std::string line_pattern;
  std::string output_pattern;
  std::string error_pattern;
  // Always printed.
  std::vector<std::string> warnings;
  // Options that were accepted without effect; printed with -v.
  std::vector<std::string> notes;
  // The hosts as given; each is a name of this host.
  std::vector<std::string> hosts;
};

// Parses the tokens after the program's name. Error: one sentence that names the token, with a similar spelling if
// there is one; `out` is then incomplete.
[[nodiscard]] Status parse_run_options(const std::vector<std::string>& tokens, RunOptions& out);

// The output of `margay run --help`.
[[nodiscard]] std::string run_help();

}  // namespace margay::command
