// Which process it is, for good: a number may pass to another process, its number and the time of its start do not.
#pragma once

#include <cstdint>

namespace margay::sim {

struct ProcessIdentity {
  std::int32_t pid = 0;           // 0: not known
  std::uint64_t start_ticks = 0;  // when it started, as /proc counts
};

// This process; unknown where /proc does not tell.
[[nodiscard]] ProcessIdentity own_process();

// Whether that process has ended, all of its threads; one that is a zombie has, one that is stopped has not. false as
// well when this cannot be found out (no descriptor left, no /proc). Reads one file: 10 us.
[[nodiscard]] bool has_ended(const ProcessIdentity& process);

}  // namespace margay::sim
