// Closing of a dead rank's trace file by the launcher: a checksum over what the rank left, and a note on how it ended.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/status.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

// The end of a process that the launcher started. The rank itself may be a child of that process, such as a script.
struct ProcessEnd {
  std::uint32_t process_id = 0;
  sim::TraceEnd end = sim::TraceEnd::none;
  // As TraceHeader::end_value: the signal, with the launcher's reason in the upper bytes, or the exit status.
  std::uint32_t value = 0;
};

// Closes the file of a rank that the launcher has reaped. `job`: the run's number.
//
// The file stays readable throughout, and counts as closed only after the last write. The end is recorded only if the
// process of `end` wrote the file. If the rank closed the file itself, only an end other than exit status 0 is added.
//
// Succeeds without effect if there is no file, if the rank never began it, if it belongs to another run, or if it is
// complete. Errors: the file is damaged, it cannot be read or written, or a process that the rank started may still
// write to it. All errors but a failed write leave the file unchanged. Waits up to 0.1 s for mappings of the dead
// process to disappear.
[[nodiscard]] portals::Status close_trace_for(const std::string& path, std::uint64_t job, const ProcessEnd& end);

}  // namespace margay::command
