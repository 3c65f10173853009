// A thread that reports a rank that waits for real time: for a file lock, a socket, or another process. Such a rank
// uses no processor, and all ranks of the run wait with it.
#pragma once

#include <cstdint>
#include <thread>

#include "sim/shm/published.hpp"

namespace margay::virtual_machine {

// Runs from its construction to the end of the process. Reports by one line on standard error, once for each wait of
// kWaitSeconds.
class Watchdog {
 public:
  static constexpr int kWaitSeconds = 10;

  // `running`: the number of the rank that runs; outlives the process's other threads.
  explicit Watchdog(const sim::Published<std::uint32_t>& running);

 private:
  std::thread thread_;
};

}  // namespace margay::virtual_machine
