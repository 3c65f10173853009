// Reports a process that waits asleep for another one inside a guard (sim/shm/holder_lock): an accumulate's, or a
// window lock's. A holder is inside for a few instructions, so it is stopped then, or has no processor. After a second
// the job board has the holder, and so the launcher's reports; after the job's stall limit (30 s,
// MARGAY_STALL_SECONDS), and again whenever the time has doubled, a line goes to standard error.
#pragma once

#include <cstdint>

#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

class GuardWatch {
 public:
  explicit GuardWatch(sim::Process& process) : process_(process) {}

  // For how long by now; 0: the wait is over.
  void waits(std::uint32_t holder, std::uint64_t waited_ns);

 private:
  sim::Process& process_;
  bool on_board_ = false;
  std::uint64_t next_report_ns_ = 0;
};

}  // namespace margay::mpi_adi
