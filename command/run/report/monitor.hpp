// The state machine of a job's end: it decides the root cause, when the other ranks are ended, and the exit status.
// Pure: events and times in, decisions out; nothing here touches a process.
//
//   running --(first failure | signal | timeout)--> ending: terminate at once or after a grace, kill later --> over
//
// Invariants. 1: the first cause remains the cause. 2: once the job is ending, a kill deadline is set. 3: a job is over
// when every rank has ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace margay::command {

// The low 8 bits of a code, which an exit status can carry, or 1 if they are 0: a failure never has the status of
// success.
[[nodiscard]] int failing_status(int code);

// Why a job ended. exit_status() derives from it.
enum class CauseKind : std::uint8_t {
  none,
  signal,          // `signal` killed a rank
  no_finalize,     // a rank exited after MPI_Init without MPI_Finalize, with exit code `code`
  no_init,         // a rank exited with `code` without MPI_Init, and another rank called it
  abort,           // MPI_Abort(`code`), or a fatal error, described by `text`
  second_program,  // a second MPI program started in the place of a rank
  timeout,         // --timeout
  deadlock,        // --deadlock abort
  interrupted,     // the launcher got `signal`
  output_closed,   // the output named by `text` cannot be written; `code` is the errno, EPIPE: its reader has closed it
  protocol,        // a rank broke the launch protocol, as `text` describes
};

// The root cause with its details; unused fields keep their defaults.
struct Cause {
  CauseKind kind = CauseKind::none;
  std::uint32_t rank = 0;
  int signal = 0;
  int code = 0;
  std::string text;
};

// The facts about a rank's end.
struct RankEnd {
  bool by_signal = false;
  // Signal or exit code.
  int value = 0;
  bool called_init = false;
  bool called_finalize = false;
  // The rank announced its abort; abort_code is MPI_Abort's code.
  bool aborting = false;
  int abort_code = 0;
  // The reason of the abort was a second program in the rank's place.
  bool second_program = false;
  // The rank's message about its abort.
  std::string text;
};

// A step that ends the job's processes.
enum class KillStep : std::uint8_t { nothing, terminate, kill };

// All times are nanoseconds of one monotonic clock, passed in by the caller; -1: not set.
class Monitor {
 public:
  static constexpr std::int64_t kMillisecondNs = 1'000'000;
  // The time that an aborting rank has to flush its output.
  static constexpr std::int64_t kAbortGraceNs = 100 * kMillisecondNs;
  // The time from SIGTERM to SIGKILL after a failure, and from the signal to SIGKILL after Ctrl-C.
  static constexpr std::int64_t kTermToKillNs = 500 * kMillisecondNs;
  static constexpr std::int64_t kInterruptToKillNs = 2000 * kMillisecondNs;
  // A rank that a signal has stopped for this time is reported.
  static constexpr std::int64_t kStopWarningNs = 10'000 * kMillisecondNs;

  // `places`: the places of the job, of which the first `ranks` have a process at first. A rank is given by its place.
  explicit Monitor(std::uint32_t ranks, std::uint32_t places = 0);

  // A process was started in a place that has none. Not called once all processes have ended.
  void on_start(std::uint32_t rank);
  // The launcher ends the rank's process on purpose, so its end does not fail the job.
  void on_kill(std::uint32_t rank) { ranks_[rank].killed = true; }
  // A rank ended. Requires: its end was not reported before.
  void on_end(std::uint32_t rank, const RankEnd& end, std::int64_t now_ns);
  // A rank announced its abort and will end by itself within the grace.
  void on_abort(std::uint32_t rank, int code, const std::string& text, std::int64_t now_ns);
  void on_second_program(std::uint32_t rank, int code, std::int64_t now_ns);
  // A rank sent invalid PMI; `sentence` describes the error.
  void on_protocol_error(std::uint32_t rank, const std::string& sentence, std::int64_t now_ns);
  // The launcher got a signal. The first signal is sent to the ranks, which must end within kInterruptToKillNs; a later
  // signal kills them.
  void on_interrupt(int signal, std::int64_t now_ns);
  void on_timeout(std::int64_t now_ns);
  // A deadlock is proven.
  void on_deadlock(std::int64_t now_ns);
  // An output cannot be written any more. `error`: the errno. `output_name`: the output.
  void on_output_closed(int error, const std::string& output_name, std::int64_t now_ns);
  void on_stop(std::uint32_t rank, std::int64_t now_ns) { ranks_[rank].stopped_at_ns = now_ns; }
  void on_continue(std::uint32_t rank);
  // A rank that is a thread has returned from the program with `code`, without MPI_Init, while its process runs on.
  void on_thread_end_without_init(std::uint32_t rank, int code);
  // A rank has called MPI_Init, so a rank that ended without MPI_Init is a failure.
  void on_initialized(std::int64_t now_ns);

  // The step to take now; each is returned once, except that kills repeat while ranks are left.
  [[nodiscard]] KillStep next_step(std::int64_t now_ns);
  // The signal for KillStep::terminate: the one that interrupted the launcher, otherwise SIGTERM.
  [[nodiscard]] int ending_signal() const;
  // A rank whose stop is to be reported, once for each stop; -1: none.
  [[nodiscard]] std::int64_t take_stop_warning(std::int64_t now_ns);
  // The next time at which next_step() or take_stop_warning() may have something to return; -1: none.
  [[nodiscard]] std::int64_t deadline_ns() const;

  // Whether a rank that has not ended is stopped by a signal.
  [[nodiscard]] bool is_any_stopped() const;
  [[nodiscard]] bool over() const { return left_ == 0; }
  // Ranks that have not ended.
  [[nodiscard]] std::uint32_t left() const { return left_; }
  // Whether no process is in the rank's place.
  [[nodiscard]] bool ended(std::uint32_t rank) const { return ranks_[rank].ended; }
  // Whether its last process was ended on purpose.
  [[nodiscard]] bool killed(std::uint32_t rank) const { return ranks_[rank].killed; }
  [[nodiscard]] bool some_ended_without_init() const { return ended_without_init_ >= 0; }
  [[nodiscard]] const Cause& cause() const { return cause_; }
  [[nodiscard]] int exit_status() const;
  [[nodiscard]] int exit_code_of(std::uint32_t rank) const { return ranks_[rank].exit_status; }
  // The signal that killed the rank; 0: the rank ended by itself, or runs.
  [[nodiscard]] int signal_of(std::uint32_t rank) const { return ranks_[rank].signal; }

 private:
  struct MonitoredRank {
    // No process is in the place: it has ended, or was never started.
    bool ended = false;
    bool killed = false;
    bool warned = false;
    int exit_status = 0;
    int signal = 0;
    std::int64_t stopped_at_ns = -1;
  };

  // Sets the cause and the deadlines, unless a cause is set.
  void fail(Cause cause, std::int64_t now_ns, std::int64_t grace_ns, std::int64_t term_to_kill_ns);
  // The cause in a rank's end; CauseKind::none: this end alone is not a failure.
  [[nodiscard]] static Cause judge(std::uint32_t rank, const RankEnd& end);

  std::vector<MonitoredRank> ranks_;
  std::uint32_t left_;
  Cause cause_;
  int first_nonzero_code_ = 0;
  // The first rank that ended without MPI_Init; -1: none. A failure only once another rank calls MPI_Init.
  std::int64_t ended_without_init_ = -1;
  int ended_without_init_code_ = 0;
  bool some_initialized_ = false;
  bool interrupted_ = false;
  std::int64_t terminate_at_ns_ = -1;
  std::int64_t kill_at_ns_ = -1;
};

}  // namespace margay::command
