// What /proc says of a process, at one moment.
#pragma once

#include <cstdint>

namespace margay::command {

struct ProcessLook {
  // Of its main thread: R runs or would like to, S and D sleep, T and t are stopped, Z and X have ended; 0: there is no
  // such process, or it cannot be read.
  char state = 0;
  std::uint64_t start_ticks = 0;      // tells it apart from a later one with its number
  std::uint64_t processor_ticks = 0;  // of all its threads, in sysconf(_SC_CLK_TCK) a second
};

[[nodiscard]] ProcessLook look_at_process(int pid);

}  // namespace margay::command
