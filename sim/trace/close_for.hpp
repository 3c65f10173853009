// Closes the file of a rank that is gone, in its place: what it left gets a checksum, and how it ended is told.
#pragma once

#include <cstdint>
#include <string>

#include "portals/base/status.hpp"
#include "sim/trace/format.hpp"

namespace margay::sim {

// For the launcher, when the rank has been reaped. `job`: the run's; `end`, `end_value`: how the rank ended. The file
// is readable at each instant, and not closed until the last step. Ok also where there is nothing to close: no file,
// one that was never begun, is closed already, or is of another run. Errors, after which it is as it was: it is
// damaged, it cannot be read or written, a process (one that the rank started) may still write to it.
[[nodiscard]] portals::Status close_trace_for(const std::string& path, std::uint64_t job, TraceEnd end,
                                              std::uint32_t end_value);

}  // namespace margay::sim
