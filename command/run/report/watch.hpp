// Decides what happens to a job when something happens to a rank: what the root cause is, when the others are ended,
// and what the exit status will be. Pure: events and times in, decisions out; nothing here touches a process.
//
//   running --(first failure | signal | timeout)--> ending: terminate at once or after a grace, kill later --> over
//
// Invariants. 1: the first cause stays the cause. 2: once ending, a kill deadline is set. 3: a job is over when every
// rank is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace margay::command {

// The part of a code that an exit status can carry, and never "all went well".
[[nodiscard]] int failing_status(int code);

enum class CauseKind : std::uint8_t {
  kNone,
  kSignal,         // a rank died by `signal`
  kNoFinalize,     // a rank ended after MPI_Init without MPI_Finalize, with exit code `code`
  kNoInit,         // a rank ended, with `code`, without MPI_Init while others had called it
  kAbort,          // MPI_Abort(`code`), or a fatal error; `text` says which
  kSecondProgram,  // an MPI program was started in a rank's place, which another one has or had
  kTimeout,        // --timeout
  kDeadlock,       // --deadlock abort
  kInterrupted,    // the launcher got `signal`
  kOutputClosed,   // the output named by `text` takes no more; `code` is the errno, EPIPE: nobody reads it
  kProtocol,       // a rank broke the launch protocol; `text` says how
};

struct Cause {
  CauseKind kind = CauseKind::kNone;
  std::uint32_t rank = 0;
  int signal = 0;
  int code = 0;
  std::string text;
};

// What is known of a rank when it ends.
struct RankEnd {
  bool by_signal = false;
  int value = 0;  // signal or exit code
  bool called_init = false;
  bool called_finalize = false;
  bool aborting = false;
  int abort_code = 0;
  bool second_program = false;  // aborting: that is why
  std::string text;             // what the rank said about its abort
};

enum class KillStep : std::uint8_t { kNothing, kTerminate, kKill };

class Watch {
 public:
  static constexpr std::int64_t kMillisecondNs = 1'000'000;
  static constexpr std::int64_t kAbortGraceNs = 100 * kMillisecondNs;  // for the aborting rank to flush its output
  static constexpr std::int64_t kTermToKillNs = 500 * kMillisecondNs;  // after a failure
  static constexpr std::int64_t kInterruptToKillNs = 2000 * kMillisecondNs;  // after Ctrl-C
  static constexpr std::int64_t kStopWarningNs = 10'000 * kMillisecondNs;

  explicit Watch(std::uint32_t ranks) : ranks_(ranks), left_(ranks) {}

  void on_end(std::uint32_t rank, const RankEnd& end, std::int64_t now_ns);
  void on_abort(std::uint32_t rank, int code, const std::string& text, std::int64_t now_ns);
  void on_second_program(std::uint32_t rank, int code, std::int64_t now_ns);
  void on_protocol_error(std::uint32_t rank, const std::string& sentence, std::int64_t now_ns);
  // A signal to the launcher: the ranks get the first and end within kInterruptToKillNs; any later one kills.
  void on_interrupt(int signal, std::int64_t now_ns);
  void on_timeout(std::int64_t now_ns);
  // It is proven that no rank can go on.
  void on_deadlock(std::int64_t now_ns);
  void on_output_closed(int error, const std::string& place, std::int64_t now_ns);
  void on_stop(std::uint32_t rank, std::int64_t now_ns) { ranks_[rank].stopped_at_ns = now_ns; }
  void on_continue(std::uint32_t rank);
  // Some rank is known to have called MPI_Init: one that ended without it will be missed.
  void on_initialized(std::int64_t now_ns);

  // What to do to the processes now; each step comes once.
  [[nodiscard]] KillStep next_step(std::int64_t now_ns);
  // What kTerminate sends: the signal that interrupted the launcher, SIGTERM else.
  [[nodiscard]] int ending_signal() const;
  // A rank that has been stopped long enough to say so, once for each stop; -1: none.
  [[nodiscard]] std::int64_t take_stop_warning(std::int64_t now_ns);
  // The next time that next_step or take_stop_warning may answer otherwise; -1: none.
  [[nodiscard]] std::int64_t deadline_ns() const;

  // Whether a rank is stopped by a signal now.
  [[nodiscard]] bool some_stopped() const;
  [[nodiscard]] bool over() const { return left_ == 0; }
  [[nodiscard]] std::uint32_t left() const { return left_; }
  [[nodiscard]] bool ended(std::uint32_t rank) const { return ranks_[rank].ended; }
  [[nodiscard]] bool some_ended_without_init() const { return ended_without_init_ >= 0; }
  [[nodiscard]] const Cause& cause() const { return cause_; }
  [[nodiscard]] int exit_status() const;
  [[nodiscard]] int exit_code_of(std::uint32_t rank) const { return ranks_[rank].exit_status; }
  // What killed it; 0: it ended by itself, or runs.
  [[nodiscard]] int signal_of(std::uint32_t rank) const { return ranks_[rank].signal; }

 private:
  struct RankWatch {
    bool ended = false;
    bool warned = false;
    int exit_status = 0;
    int signal = 0;
    std::int64_t stopped_at_ns = -1;
  };

  void fail(Cause cause, std::int64_t now_ns, std::int64_t grace_ns, std::int64_t term_to_kill_ns);
  [[nodiscard]] static Cause judge(std::uint32_t rank, const RankEnd& end);

  std::vector<RankWatch> ranks_;
  std::uint32_t left_;
  Cause cause_;
  int first_nonzero_code_ = 0;
  std::int64_t ended_without_init_ = -1;  // first rank that did
  int ended_without_init_code_ = 0;
  bool some_initialized_ = false;
  bool interrupted_ = false;
  std::int64_t terminate_at_ns_ = -1;
  std::int64_t kill_at_ns_ = -1;
};

}  // namespace margay::command
