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
    if (idle_ns >= kLongWaitNs) [[unlikely]] {
      look(idle_ns);
    } else {
      moved();  // a body that others carry moved on, perhaps
    }
  }

 private:
  static constexpr std::uint64_t kLongWaitNs = 1'000'000'000;
  void look(std::uint64_t idle_ns);
  void tell_board(std::uint64_t idle_ns);
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
    if (rank_.recorder().on()) [[unlikely]]
      record_in_call(kind);
  }
  [[gnu::noinline]] void record_in_call(sim::TraceKind kind);
  MpiRank& rank_;
};

// A wait's part in what the threads of its rank wait for together. While only one thread is in MPI it costs a look.
class SharedWait {
 public:
  // `done`: the wait's own; see Guest. `polls()` is false when another thread polled until done() held.
  template <typename Done>
  SharedWait(MpiRank& rank, Done& done) : rank_(rank) {
    if (!rank.threaded()) return;
    polls_for_all_ = rank.wait_room().begin_polling(rank.lock().turns());
    if (polls_for_all_) return;
    Guest guest(done);
    stay(guest);
  }
  ~SharedWait() {
    if (polls_for_all_) rank_.wait_room().end_polling();
  }
  SharedWait(const SharedWait&) = delete;
  SharedWait& operator=(const SharedWait&) = delete;

  [[nodiscard]] bool polls() const { return polls_; }
  // Whether others wait for what this one's rounds bring.
  [[nodiscard]] bool alone() const { return rank_.wait_room().empty(); }
  // After each round: those whose wait is over go on, and who wants the lock gets it. Whether it gave the processor up.
  bool after_round(bool moved) { return rank_.threaded() && share(moved); }

 private:
  void stay(Guest& guest);
  bool share(bool moved);

  MpiRank& rank_;
  bool polls_ = true;
  bool polls_for_all_ = false;  // while the rank has several threads
  std::uint32_t idle_rounds_ = 0;
};

// A wait that begins now.
[[nodiscard]] sim::Waiter waiter_of(MpiRank& rank);

// Runs progress until `done()`, which is asked after at most `messages` of each wire. The process lock is held on entry
// and on return, and whenever done() runs; with MPI_THREAD_MULTIPLE it is given up between rounds, so that other
// threads' calls go on, and done() may be asked by another thread that waits: see Guest.
template <typename Done>
void wait_until(MpiRank& rank, Done done, int messages = Device::kMessagesPerRound) {
  if (done()) return;
  const WaitTrace trace(rank);
  SharedWait shared(rank, done);
  if (!shared.polls()) return;
  sim::Waiter waiter = waiter_of(rank);
  StallWatch stall(rank);
  for (;;) {
    const bool moved = rank.device().progress(shared.alone() ? messages : Device::kMessagesPerRound);
    if (done()) return;
    const bool gave_way = shared.after_round(moved);
    if (moved) {
      waiter.moved();
      stall.moved();
      continue;
    }
    if (gave_way) [[unlikely]]
      waiter.gave_way();
    waiter.idle();
    if (waiter.sleeps()) [[unlikely]]
      rank.device().about_to_sleep();
    stall.idle(waiter.idle_ns());
  }
}

}  // namespace margay::mpi_adi
