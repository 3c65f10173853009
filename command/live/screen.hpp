// `margay top`: its command line, and its screen of tables, keys and help.
#pragma once

#include <string>

#include "command/live/columns.hpp"

namespace CLI {
class App;
}

namespace margay::command {

struct TopOptions {
  std::string job;  // a name or a launcher's process; empty: all
  double interval_s = 0.5;
  bool once = false;
  SortKey key = SortKey::kRank;
};

// Complains of what looked like a job and is none, and when `job`, not empty, names no one job.
void print_remarks(RunningJobs& jobs, const std::string& job);

// Until q, or a signal that ends it; the exit status, 1 when there is no such job. Requires: standard output is a
// terminal.
[[nodiscard]] int show_screen(const TopOptions& options);

// Adds `margay top` to the command line.
void add_top_command(CLI::App& app);

}  // namespace margay::command
