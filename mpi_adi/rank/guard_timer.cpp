#include "mpi_adi/rank/guard_timer.hpp"

#include <cstdio>
#include <string>

#include "sim/base/limits.hpp"

namespace margay::mpi_adi {

namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

}  // namespace

void GuardTimer::waits(std::uint32_t holder, std::uint64_t waited_ns) {
  sim::BoardBlock& board = process_.board();
  // The wait is over, so the launcher must not report it any more. A change of `progress` restarts the launcher's
  // search for stalls.
  if (waited_ns == 0) {
    if (on_board_) {
      board.wait.is_waiting = 0;
      ++board.progress;
    }
    on_board_ = false;
    next_report_ns_ = 0;
    return;
  }
  if (waited_ns < kNsPerSecond) return;
  if (!on_board_) {
    board.wait = {};
    board.wait.peer = static_cast<std::int32_t>(holder);
    // No tag, because the wait is for a rank, not for a message.
    board.wait.tag = -1;
    board.wait.requests = 1;
    board.wait.since_ns = process_.clock().now_ns() - waited_ns;
    board.wait.is_waiting = 1;
    on_board_ = true;
    // Read only now, so that waits of less than a second do not pay for it.
    next_report_ns_ = process_.job().options.seconds_ns("stall_seconds", sim::kStallReportNs);
  }
  if (waited_ns < next_report_ns_) return;
  next_report_ns_ *= 2;
  const std::string call(sim::name_in(board.mpi_call));
  const std::string text = "margay: rank " + std::to_string(process_.rank()) + " has waited " +
                           std::to_string(waited_ns / kNsPerSecond) + " s in " + (call.empty() ? "MPI" : call) +
                           " for rank " + std::to_string(holder) +
                           ", which holds the lock of a window update: it is stopped, or has no "
                           "processor; continue it (kill -CONT), or end it\n";
  std::fputs(text.c_str(), stderr);
}

}  // namespace margay::mpi_adi
