// Waiting inside an MPI call: rounds of the device's progress until something holds.
#pragma once

#include "mpi_adi/rank/rank.hpp"
#include "sim/kernel/waiter.hpp"

namespace margay::mpi_adi {

// After this long without progress a rank says whom it waits for (on stderr, once, and again when doubled).
void report_stall(MpiRank& rank, std::uint64_t idle_ns);

// Brackets a wait in the trace.
class WaitTrace {
 public:
  explicit WaitTrace(MpiRank& rank) : rank_(rank) { record(sim::TraceKind::wait_begin); }
  ~WaitTrace() { record(sim::TraceKind::wait_end); }
  WaitTrace(const WaitTrace&) = delete;
  WaitTrace& operator=(const WaitTrace&) = delete;

 private:
  void record(sim::TraceKind kind) {
    sim::Recorder& recorder = rank_.process().recorder();
    if (recorder.on()) recorder.record({.kind = kind, .a = rank_.call_trace().current()});
  }
  MpiRank& rank_;
};

// Runs progress until `done()`. The process lock is held on entry and on return, and whenever done() runs; with
// MPI_THREAD_MULTIPLE it is given up between rounds, so that other threads' calls go on.
template <typename Done>
void wait_until(MpiRank& rank, Done done) {
  if (done()) return;
  const WaitTrace trace(rank);
  sim::Waiter waiter(rank.process().kernel(), rank.process().clock(), rank.process().wait_means());
  std::uint64_t next_report_ns = sim::kStallReportNs;
  for (;;) {
    const bool moved = rank.device().progress();
    if (done()) return;
    if (moved) {
      waiter.moved();
      continue;
    }
    if (rank.threaded()) rank.leave();
    waiter.idle();
    if (rank.threaded()) rank.enter();
    if (waiter.idle_ns() >= next_report_ns) {
      report_stall(rank, waiter.idle_ns());
      next_report_ns *= 2;
    }
  }
}

}  // namespace margay::mpi_adi
