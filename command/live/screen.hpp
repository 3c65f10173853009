// The command `margay top`: its options, and its screen of tables and keys.
#pragma once

#include <string>

#include "command/live/columns.hpp"

namespace CLI {
class App;
}

namespace margay::command {

struct TopOptions {
  // A job's name, or its launcher's process number; empty: all jobs.
  std::string job;
  // Seconds from one snapshot to the next, from 0.05 to 3600.
  double interval_s = 0.5;
  // Print one table and end. This is also done where standard output is no terminal.
  bool once = false;
  SortKey key = SortKey::rank;
};

// Prints remarks about invalid boards, and an error if `job`, not empty, does not name a single job.
void print_remarks(RunningJobs& jobs, const std::string& job);

// Runs the screen until q or a terminating signal. Returns the exit status; 1: `job` does not exist. Requires: standard
// output is a terminal.
[[nodiscard]] int show_screen(const TopOptions& options);

// Adds `margay top` to the command line.
void add_top_command(CLI::App& app);

}  // namespace margay::command
