#include "mpi_adi/rank/wait.hpp"

#include <cstdio>
#include <string>

#include "mpi_adi/progress/describe.hpp"

namespace margay::mpi_adi {

namespace {

constexpr std::size_t kReportLines = 12;

}  // namespace

void StallWatch::look(std::uint64_t idle_ns) {
  sim::Process& process = rank_.process();
  if (next_report_ns_ == 0) next_report_ns_ = process.job().options.seconds_ns("stall_seconds", sim::kStallReportNs);
  if (!on_board_) {
    const FirstWait first = rank_.device().first_wait();
    sim::BoardWait& wait = process.board().wait;
    wait.peer = first.peer;
    wait.tag = first.tag;
    wait.context = first.context;
    wait.posted_receives = first.posted_receives;
    wait.unexpected_messages = first.unexpected_messages;
    wait.is_waiting = 1;
    on_board_ = true;
  }
  if (idle_ns < next_report_ns_) return;
  next_report_ns_ *= 2;
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  const std::string call = process.board().mpi_call.data();  // of the latest thread to enter; none, as it has left
  std::string text = "margay: rank " + std::to_string(process.rank()) + " has waited " +
                     std::to_string(idle_ns / kNsPerSecond) + " s in " + (call.empty() ? "MPI" : call) +
                     " without progress\n";
  rank_.device().describe(text, kReportLines);
  std::fputs(text.c_str(), stderr);
}

void StallWatch::clear() {
  on_board_ = false;
  next_report_ns_ = 0;
  rank_.process().board().wait.is_waiting = 0;
  ++rank_.process().board().progress;
}

}  // namespace margay::mpi_adi
