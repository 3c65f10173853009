// The wait inside an MPI call: rounds of the device's progress until a condition holds. Between rounds
// sim/kernel/waiter decides whether the rank spins, yields or sleeps (docs/architecture.md, Waiting).
#pragma once

#include "mpi_adi/rank/rank.hpp"
#include "sim/kernel/waiter.hpp"

namespace margay::mpi_adi {

// The description, for the job board, of a wait inside a communication library instead of inside MPI.
struct NamedWait {
  const char* call = nullptr;  // the library's function, a literal
  std::int32_t peer = -1;      // the rank whose message ends the wait; -1: any
  bool needs_message = true;   // only a message can end the wait
  // The address in the program to which the call returns; nullptr: unknown.
  const void* returns_to = nullptr;
};

// The stall timer of a polling wait, on the wait's stack. After a second without progress it puts the wait on the job
// board, where the launcher looks for deadlocks. After the job's stall limit (30 s, MARGAY_STALL_SECONDS) it reports
// the wait on standard error, and again whenever the time has doubled. In the common case a round costs two tests.
class StallTimer {
 public:
  // `named`: the wait's description; nullptr: the wait is that of the call in progress, and of the device's requests.
  explicit StallTimer(MpiRank& rank, const NamedWait* named = nullptr) : rank_(rank), named_(named) {}
  // Removes the wait from the board: the wait is over, or its call ends with an error.
  ~StallTimer() { restart(); }
  StallTimer(const StallTimer&) = delete;
  StallTimer& operator=(const StallTimer&) = delete;

  // Called when progress was made: the wait starts anew.
  void restart() {
    if (on_board_) [[unlikely]]
      clear();
  }
  // Called after a round without progress; `idle_ns` is the time since the last progress.
  void idle(std::uint64_t idle_ns) {
    if (idle_ns >= kLongWaitNs) [[unlikely]] {
      look(idle_ns);
    } else {
      restart();  // the idle time may be short again, because a part of a body has moved (Waiter::idle_ns)
    }
  }

 private:
  // The least idle time of a wait that the board shows.
  static constexpr std::uint64_t kLongWaitNs = 1'000'000'000;
  // The rare part of idle().
  void look(std::uint64_t idle_ns);
  // Writes the wait to the job board.
  void write_board(std::uint64_t idle_ns);
  // Answers the launcher's question whether this rank still waits.
  void answer();
  // Removes the wait from the board.
  void clear();

  MpiRank& rank_;
  const NamedWait* const named_;
  bool on_board_ = false;
  std::uint32_t question_ = 0;  // the launcher's question that the previous call of answer() found
  // The idle time of the next report on standard error; 0 before the first call of look().
  std::uint64_t next_report_ns_ = 0;
};

// The recorder of one wait in the trace: wait_begin at construction, wait_end at destruction. Both lie between the
// call's own events.
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
  // Out of line, so that an untraced wait pays one test.
  [[gnu::noinline]] void record_in_call(sim::TraceKind kind);
  MpiRank& rank_;
};

// The coordination of one wait with the waits of the rank's other threads: one thread polls for all threads. Costs one
// test in a single-threaded program.
class SharedWait {
 public:
  // `done`: the wait's condition; see WaitingThread. polls() is false afterwards if another thread polled until done()
  // held.
  template <typename Done>
  SharedWait(MpiRank& rank, Done& done) : rank_(rank) {
    if (!rank.threaded()) return;
    // One thread polls for all. A second one polls only if its wait began while the rank had a single thread.
    polls_for_all_ = rank.wait_room().begin_polling(rank.lock().turns());
    if (polls_for_all_) return;
    WaitingThread thread(done);
    // Returns when the condition holds, or when this thread has to poll.
    stay(thread);
  }
  ~SharedWait() {
    if (polls_for_all_) rank_.wait_room().end_polling();
  }
  SharedWait(const SharedWait&) = delete;
  SharedWait& operator=(const SharedWait&) = delete;

  // Whether this thread must run rounds. False once done() has held; done() may not be called again then.
  [[nodiscard]] bool polls() const { return polls_; }
  // Whether no other thread waits, so that the rounds serve this wait alone.
  [[nodiscard]] bool alone() const { return rank_.wait_room().empty(); }
  // Called after each round: wakes the threads whose wait is over, and gives the lock to threads that wait for it.
  // Returns whether it yielded the processor.
  bool after_round(bool moved) { return rank_.threaded() && share(moved); }

 private:
  // Waits in the wait room, until the condition of `thread` holds or the calling thread has to poll.
  void stay(WaitingThread& thread);
  // The part of after_round() with several threads.
  bool share(bool moved);

  MpiRank& rank_;
  // True: this thread runs rounds. False: another thread polled until this wait's condition held.
  bool polls_ = true;
  bool polls_for_all_ = false;     // counted as a poller, once the rank has several threads
  std::uint32_t idle_rounds_ = 0;  // rounds in a row that moved nothing
};

// The waiter of a wait that begins now, with the process's clock and its means of sleeping.
[[nodiscard]] sim::Waiter waiter_of(MpiRank& rank);

// Runs progress until `done()` holds, which is tested after at most `messages` messages of each wire. The process lock
// is locked on entry, on return, and whenever done() runs. With several threads the lock is given up between rounds, so
// that other threads' calls go on, and another waiting thread may call done() (see WaitingThread).
// `named`: what reports show of a wait that is not MPI's.
// A wait that ends at its first test, which is the common case, has neither trace events nor a timer.
//
//   wait_until(rank, [&] { return request.complete; });
template <typename Done>
void wait_until(MpiRank& rank, Done done, int messages = Device::kMessagesPerRound, const NamedWait* named = nullptr) {
  if (done()) return;
  const WaitTrace trace(rank);
  SharedWait shared(rank, done);
  if (!shared.polls()) return;
  sim::Waiter waiter = waiter_of(rank);
  StallTimer stall(rank, named);
  for (;;) {
    // If a round also serves other waits, it takes the usual number of messages, because `messages` suits this wait
    // only.
    const bool moved = rank.device().progress(shared.alone() ? messages : Device::kMessagesPerRound);
    if (done()) return;
    const bool gave_way = shared.after_round(moved);
    // The idle time begins anew, even if the progress did not concern this wait.
    if (moved) {
      waiter.restart();
      stall.restart();
      continue;
    }
    if (gave_way) [[unlikely]]
      waiter.record_yield();
    waiter.idle();
    if (waiter.sleeps()) [[unlikely]] {
      // A sleeping rank makes few rounds. So if a message is held because its heap has no room, the second heap opens
      // now, and not after the usual number of rounds (device/unexpected).
      rank.device().about_to_sleep();
    }
    stall.idle(waiter.idle_ns());
  }
}

}  // namespace margay::mpi_adi
