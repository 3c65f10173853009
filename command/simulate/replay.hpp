// `margay simulate --replay`: a recorded run in the time of another machine, without its program.
#pragma once

#include <string>

#include "command/simulate/replay_plan.hpp"
#include "command/trace/read/reader.hpp"
#include "portals/base/status.hpp"
#include "virtual_machine/model/settings.hpp"

namespace margay::command {

// The exit status of a replay that has failed.
inline constexpr int kStatusNotReplayed = 1;

// A trace, and the plan of its replay, which all machines of a comparison share.
struct Recording {
  // As on the command line.
  std::string folder;
  Trace trace;
  RecordedRun run;

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(trace.files.size()); }
};

// Error: the folder has no trace, or one that cannot be replayed.
[[nodiscard]] portals::Status read_recording(const std::string& folder, Recording& out);

// Error: the change concerns a part of a run that a replay keeps as it was recorded.
[[nodiscard]] portals::Status check_replayed_change(const virtual_machine::Change& change);

// Replays the run with settings that have been checked, prints its times, and writes the report and the trace that the
// settings name. Error: a file cannot be written, or the ranks wait for one another in a circle.
[[nodiscard]] portals::Status replay_recording(const Recording& recording, const virtual_machine::Settings& settings);

}  // namespace margay::command
