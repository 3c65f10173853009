// The permanent identity of a process: its number, which may pass to another process, together with its start time.
#pragma once

#include <cstdint>

namespace margay::sim {

struct ProcessIdentity {
  // 0: not known.
  std::int32_t pid = 0;
  // Start time in the operating system's clock ticks since boot, as in /proc/PID/stat.
  std::uint64_t start_ticks = 0;
};

// This process; unknown without /proc.
[[nodiscard]] ProcessIdentity own_process();

// Whether the process has ended, with all of its threads. A zombie has ended; a stopped process has not. Also false
// when this cannot be determined (no file descriptor left, no /proc). Reads one file: 10 us.
[[nodiscard]] bool has_ended(const ProcessIdentity& process);

}  // namespace margay::sim
