// Waiting inside an MPI call: rounds of the device's progress until something holds.
#pragma once

#include "mpi_adi/rank/rank.hpp"
#include "sim/kernel/waiter.hpp"

namespace margay::mpi_adi {

// Tells that a wait is long: to the job board after a second, where the launcher looks for cycles, and on stderr after
// the job's stall limit (30 s, MARGAY_STALL_SECONDS), again whenever the time has doubled.
class StallWatch {
 public:
  explicit StallWatch(MpiRank& rank) : rank_(rank) {}
  ~StallWatch() { moved(); }
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;

  void moved() {
    if (on_board_) [[unlikely]]
      clear();
  }
  void idle(std::uint64_t idle_ns) {
    if (idle_ns >= kLongWaitNs) [[unlikely]]
      look(idle_ns);
  }

 private:
  static constexpr std::uint64_t kLongWaitNs = 1'000'000'000;
  void look(std::uint64_t idle_ns);
  void tell_board();
  void answer();
  void clear();

  MpiRank& rank_;
  bool on_board_ = false;
  std::uint32_t question_ = 0;  // that the last look has found on the board
  std::uint64_t next_report_ns_ = 0;
};

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
    if (recorder.on()) rank_.call_trace().wait(recorder, kind);
  }
  MpiRank& rank_;
};

// Runs progress until `done()`, which is asked after at most `messages` of each wire. The process lock is held on entry
// and on return, and whenever done() runs; with MPI_THREAD_MULTIPLE it is given up between rounds, so that other
// threads' calls go on.
template <typename Done>
void wait_until(MpiRank& rank, Done done, int messages = Device::kMessagesPerRound) {
  if (done()) return;
  const WaitTrace trace(rank);
  sim::Waiter waiter(rank.process().kernel(), rank.process().clock(), rank.process().wait_means());
  StallWatch stall(rank);
  for (;;) {
    const bool moved = rank.device().progress(messages);
    if (done()) return;
    if (moved) {
      waiter.moved();
      stall.moved();
      continue;
    }
    waiter.idle();
    if (rank.threaded()) rank.let_others_in();
    if (waiter.idle_ns() >= sim::kSleepAfterNs) [[unlikely]]
      rank.device().about_to_sleep();
    stall.idle(waiter.idle_ns());
  }
}

}  // namespace margay::mpi_adi
