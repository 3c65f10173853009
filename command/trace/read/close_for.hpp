// Closes the file of a rank that is gone, in its place: what it left gets a checksum, and how it ended is told.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/status.hpp"
#include "sim/trace/format.hpp"

namespace margay::command {

// How a process of the launcher's ended. Another one that it had started may have been the rank.
struct ProcessEnd {
  std::uint32_t process_id = 0;
  sim::TraceEnd end = sim::TraceEnd::none;
  std::uint32_t value = 0;  // as TraceHeader::end_value
};

// For the launcher, when the rank has been reaped. `job`: the run's. The file is readable at each instant, and not
// closed until the last step. One that another process wrote is closed without its end, which is not known. In one that
// its rank closed the end is noted as well, unless that was exit status 0. Ok also where there is nothing to do: no
// file, one that was never begun, or is of another run. Errors, after which it is as it was: it is damaged, it cannot
// be read or written, a process (one that the rank started) may still write to it.
[[nodiscard]] portals::Status close_trace_for(const std::string& path, std::uint64_t job, const ProcessEnd& end);

}  // namespace margay::command
