// The monitor of waits for a guard (sim/shm/holder_lock), which protects an accumulate or a window lock in shared
// memory. A holder keeps a guard for a few instructions only. So a wait that is long enough for a sleep means that the
// holder is stopped or has no processor. After a second of waiting the job board names the holder, for the launcher's
// reports. After the job's stall limit (30 s, MARGAY_STALL_SECONDS) a line goes to standard error, and again whenever
// the time has doubled.
#pragma once

#include <cstdint>

#include "sim/machine/process.hpp"

namespace margay::mpi_adi {

// The monitor of one rank. The thread that waits calls it.
class GuardTimer {
 public:
  explicit GuardTimer(sim::Process& process) : process_(process) {}

  // Called while the wait for rank `holder` lasts, with the time waited so far. Called with 0 when the wait is over,
  // which removes the wait from the board.
  void waits(std::uint32_t holder, std::uint64_t waited_ns);

 private:
  sim::Process& process_;
  bool on_board_ = false;             // the wait is on the job board
  std::uint64_t next_report_ns_ = 0;  // 0 until the wait is on the board
};

}  // namespace margay::mpi_adi
