// One schedule of an exploration, and its run in a child process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command/simulate/choice_tree.hpp"
#include "command/simulate/program_start.hpp"
#include "portals/base/status.hpp"

namespace margay::command {

// The settings of a run that differ between schedules; a SimulateOrder has the others.
struct Schedule {
  // The sources of wildcards; without a value, wildcards take messages in the order of their arrival.
  std::optional<std::vector<Choice>> choices;
  // Settings::seed and Settings::delay_ns.
  std::uint64_t seed = 0;
  std::uint64_t delay_ns = 0;
};

// The command line that repeats a schedule, quoted for a shell: with the schedule, and the options of the order that
// determine a run.
[[nodiscard]] std::string repeat_command(const SimulateOrder& order, const Schedule& schedule);

// The result of a schedule's run.
struct ScheduleRun {
  Schedule schedule;
  // 128 + the signal, if one ended the run.
  int exit_status = 0;
  // The run was killed after the limit of run_schedule().
  bool exceeded_limit = false;
  // The wildcards could not take the messages of their given sources; the program has no such schedule.
  bool is_infeasible = false;
  // Lines of standard output: those of rank 0, of rank 1, ...
  std::vector<std::string> output;
  // The text of standard error.
  std::string errors;
  // Ids, in the order of their reports.
  std::vector<std::string> findings;
  // Of the wildcards, in the order in which they took messages.
  std::vector<Decision> decisions;
};

// A folder for the files of runs, removed with this object.
class ScratchFolder {
 public:
  ScratchFolder() = default;
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  // Error: names the folder in which it cannot be made.
  [[nodiscard]] portals::Status make();
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Runs a schedule of an order that has been checked, for at most `limit_seconds`. The program's input is empty.
// `trace_dir`: of a trace; empty: none. Error: the system cannot start the process.
[[nodiscard]] portals::Status run_schedule(const SimulateOrder& order, const Schedule& schedule,
                                           const ScratchFolder& folder, std::uint64_t limit_seconds,
                                           const std::string& trace_dir, ScheduleRun& out);

}  // namespace margay::command
